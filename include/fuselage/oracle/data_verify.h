// Checks a data set against itself and against the rules: hashes and counts of all files, and of a sample of
// rows that the prompt is what the environment says after the answers that led there, and that the labelled
// answer, with best answers after it, makes a schedule that the judge of its family (`simulate`, or
// grid/evaluate.h) prices at what the row says. Grid problems are labelled again for that, which must give
// the same rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/oracle/data_manifest.h"

namespace fuselage::oracle {

struct VerifyOptions {
  std::size_t sample = 200;         // rows played again, spread over all files
  std::uint64_t seed = 0;           // of the sample
  std::uint64_t steps = 1'000'000;  // kernels priced, of one search; grid: as the data set was made
  const std::atomic<bool>* cancel = nullptr;
};

struct VerifyReport {
  std::size_t files = 0;
  std::uint64_t rows = 0;                // counted
  std::size_t played = 0;                // rows played again
  std::vector<std::string> faults = {};  // "sft/train-00000-of-00001.jsonl: line 7: ..."
  bool cancelled = false;
};

// Error if the directory is no complete data set.
VerifyReport verify_data_set(const std::string& directory, const VerifyOptions& options);

}  // namespace fuselage::oracle
