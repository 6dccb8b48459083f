// The grid family's problems for a data set: given ones, then drawn ones. What is drawn for a problem depends
// on the seed and the problem's index only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/oracle/data_set.h"
#include "fuselage/oracle/label_grid.h"

namespace fuselage::oracle {

struct GivenProblem {
  std::string name;
  grid::Instance instance;
};

struct GridSourceOptions {
  std::vector<GivenProblem> given = {};
  std::size_t drawn = 0;
  int min_ops = 8;  // of the drawn ones
  int max_ops = 32;
  grid::Rules rules = {};
  GridLabelOptions labels = {};  // its seed is the data set's
};

class GridSource : public LabelSource {
 public:
  explicit GridSource(GridSourceOptions options) : options_(std::move(options)) {}
  std::size_t size() const override { return options_.given.size() + options_.drawn; }
  std::optional<LabelledGraph> label(std::size_t index, const std::atomic<bool>* cancel) const override;

 private:
  GridSourceOptions options_;
};

// What verify needs to label a problem of the data set again (DataManifest::labels): policies, episodes,
// steps and candidates, as JSON in one line.
std::string grid_labels_to_json(const GridLabelOptions& options, const std::string& policy);
// Error with `source` for what is none.
GridLabelOptions read_grid_labels(const std::string& text, const std::string& source);

}  // namespace fuselage::oracle
