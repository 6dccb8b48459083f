// What the audit says, for people and for programs. An example is a file of actions that `fuselage play`
// reads, and the line that plays it stands with the finding.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuselage/oracle/audit.h"

namespace fuselage::cli {

struct AuditedExample {
  std::vector<std::string> actions;  // one line each
  std::size_t plain = 0;             // of them ask for nothing
  std::string summary;               // the others, lists of equal entries drawn together
  std::string file;                  // its name: "task5_adversarial-seed-worst.txt"
  std::string command;               // that plays it
};

struct AuditedGame {
  oracle::audit::Report report;
  std::vector<AuditedExample> examples;  // by finding
};

// `target` is what `fuselage play` takes for the game, `folder` where examples lie.
AuditedGame audited(const oracle::audit::Game& game, oracle::audit::Report report, const std::string& target,
                    const std::string& folder);

std::string audit_text(const std::vector<AuditedGame>& games);
nlohmann::ordered_json audit_json(const std::vector<AuditedGame>& games,
                                  const oracle::audit::Options& options);

}  // namespace fuselage::cli
