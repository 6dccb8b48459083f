// A schedule in the formats of other tools.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fuselage/report/schedule.h"

namespace fuselage::report {

// All that there is to see, unrounded; the documents of the page are made of these.
nlohmann::ordered_json subject_json(const Subject& subject);
nlohmann::ordered_json schedule_json(const Schedule& schedule);

// A header and a row a kernel, RFC 4180; lists of ids are separated by blanks.
std::string schedule_csv(const Schedule& schedule);

// The Trace Event Format of Chrome, which Perfetto opens; a millisecond is a unit of time of the schedule, so
// that thousandths of it are whole microseconds. A track of kernels, each with its launches and its
// arithmetic inside; a track of the transfers; and a counter of what fast memory holds. Events of a track
// nest strictly, and those of kernels add up to the latency.
std::string chrome_trace(const Subject& subject, const Schedule& schedule);

}  // namespace fuselage::report
