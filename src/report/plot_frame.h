// What is around the data of a plot: title, note and legend; axes with ticks, grid and labels.
#pragma once

#include "plot_script.h"

namespace fuselage::report {

void begin_picture(PlotScript& script);
// Places the panel; curves come next, then end_panel.
void begin_panel(PlotScript& script, const PanelLayout& placed);
void end_panel(PlotScript& script);

}  // namespace fuselage::report
