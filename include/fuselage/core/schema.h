// How a family describes itself to a learned model: what the numbers of a row are called, their units and
// what they mean. A model is trained on one schema and fits no other, so a schema has a fingerprint, which
// datasets and models carry, and who reads one compares it and refuses what differs.
//
// A schema is a table of columns: each has, beside its words, the function that takes its number from the
// facts of a row, so that name, meaning and value can't drift apart.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

struct Feature {
  std::string name;
  std::string unit;
  std::string meaning;
};

class Schema {
 public:
  // Names must be unique and `version` at least 1. A new version is for features that keep their names and
  // mean something else.
  Schema(std::string name, int version, std::vector<Feature> features);

  const std::string& name() const { return name_; }
  int version() const { return version_; }
  std::size_t size() const { return features_.size(); }
  std::span<const Feature> features() const { return features_; }
  // Where a feature stands in a row. Error that names the schema if there is none of that name.
  std::size_t index(std::string_view feature) const;
  // 64 hex digits of the schema's name and version and of the features' names and units, in order. Meanings
  // are prose, which may be reworded.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  std::string name_;
  int version_;
  std::vector<Feature> features_;
  std::string fingerprint_;
};

template <class Facts>
struct Column {
  const char* name;
  const char* unit;
  const char* meaning;
  double (*value)(const Facts&);
};

template <class Facts>
Schema schema_of(std::string name, int version, std::span<const Column<Facts>> columns) {
  std::vector<Feature> features;
  for (const Column<Facts>& column : columns) features.push_back({column.name, column.unit, column.meaning});
  return {std::move(name), version, std::move(features)};
}

// `row` has a number for every column.
template <class Facts>
void fill_row(std::span<const Column<Facts>> columns, const Facts& facts, std::span<float> row) {
  for (std::size_t i = 0; i < columns.size(); ++i) row[i] = static_cast<float>(columns[i].value(facts));
}

}  // namespace fuselage
