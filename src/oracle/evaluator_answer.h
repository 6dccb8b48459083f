// One line of an evaluator: what it says, if it is an answer at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/graph/graph.h"
#include "fuselage/oracle/evaluator.h"

namespace fuselage::oracle {

// {"id": ..., "plan": ...} and the line's end.
std::string request_line(const Workload& workload, const Request& request);

struct EvaluatorAnswer {
  std::int64_t id = 0;
  Measurement measured = {};  // attempts is not set
};

// None: no JSON object with an integer `id` and one of `latency` and `error`; `why` says what is missing. A
// latency that is NaN (however it is written), infinite, or not above 0 makes a bad plan.
std::optional<EvaluatorAnswer> parse_answer(std::string_view line, std::string& why);

}  // namespace fuselage::oracle
