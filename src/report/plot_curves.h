// The data of a panel, and what is drawn of them.
#pragma once

#include "plot_script.h"

namespace fuselage::report {

void add_curves(PlotScript& script, const PlotPanel& panel, const PanelLayout& placed);

}  // namespace fuselage::report
