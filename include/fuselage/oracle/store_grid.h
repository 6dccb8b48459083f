// Grid problems in the best-known store (store.h): their keys, and records that carry problem and solution in
// the contest's JSON, so that a plan can be judged anew wherever its record goes.
#pragma once

#include <string>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/rules.h"
#include "fuselage/oracle/store.h"

namespace fuselage::oracle {

// SHA-256, in hex, of all that a latency depends on: tensors, ops, machine, rules and their flags.
std::string store_key(const grid::Instance& instance, const grid::Rules& rules);

struct GridClaim {
  std::string name = {};  // of the problem
  grid::Rules rules = {};
  grid::Plan plan = {};
  grid::Evaluation evaluation = {};  // of the plan, by the judge
  double lower_bound = 0;            // time units
  search::Proof proof = search::Proof::none;
};
Record make_record(const grid::Instance& instance, const GridClaim& claim, const Origin& origin);

struct GridRecordPlan {
  grid::Instance instance;
  grid::PlanFile file;
  grid::Evaluation evaluation;
};
// The plan of a grid record that is true: key and counts are the problem's, the judge finds the plan legal
// and its latencies as claimed within 1e-9 relative, bound and proof don't contradict the cost. Error,
// beginning with `where`, for any other.
GridRecordPlan checked_grid_plan(const Record& record, const std::string& where);

}  // namespace fuselage::oracle
