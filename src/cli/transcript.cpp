#include "transcript.h"

#include <array>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/walk/tasks.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

walk::Rules read_rules(const JsonField& field) {
  const auto rules = walk::parse_rules(field.string());
  if (!rules || *rules == walk::Rules::physical) field.refuse("has no episodes", "seed or seed-honest");
  return *rules;
}

Workload read_workload(const JsonField& line, std::size_t number) {
  const auto name = line.optional("name");
  if (const auto task = line.optional("task")) {
    if (line.has("graph")) task->refuse("stands beside \"graph\"", "one of them");
    if (name) name->refuse("stands beside \"task\", which has a name", "one of them");
    const auto spec = walk::find_task(task->string());
    if (!spec) task->refuse("is unknown", "a name that 'fuselage tasks' lists");
    return walk::make_task(*spec);
  }
  if (!line.has("graph")) line.refuse("names no \"task\" and has no \"graph\"", "one of them");
  return read_graph(line.required("graph"), name ? read_name(*name) : fmt::format("line{}", number));
}

}  // namespace

Transcript read_transcript(const Line& line, const std::string& source, walk::Rules rules) {
  const std::string place = fmt::format("{}: line {}", source, line.number);
  const Json json =
      parse_json(line.text, source,
                 {.max_values = max_transcript_values, .object_only = true, .first_line = line.number});
  const JsonField fields(json, place);
  constexpr std::array<std::string_view, 6> known = {"task", "graph", "name", "policy", "rules", "actions"};
  fields.only(known);
  Transcript transcript{
      .file = source, .line = line.number, .workload = read_workload(fields, line.number), .rules = rules};
  if (const auto policy = fields.optional("policy")) transcript.policy = policy->string();
  if (const auto own = fields.optional("rules")) transcript.rules = read_rules(*own);
  const JsonField actions = fields.required("actions");
  for (std::size_t i = 0; i < actions.array_size(); ++i) {
    const JsonField action = actions.element(i);
    const bool is_text = action.value().is_string();
    transcript.answers.push_back(is_text ? action.string() : action.value().dump());
  }
  return transcript;
}

TranscriptReader::TranscriptReader(const std::string& path, walk::Rules rules)
    : lines_(path, {.most_bytes = max_transcript_bytes, .expected = "one episode"}), rules_(rules) {
  if (rules == walk::Rules::physical) fail("--rules: physical has no episodes; expected seed or seed-honest");
}

std::optional<Transcript> TranscriptReader::next() {
  while (const auto line = lines_.next())
    if (line->text.find_first_not_of(" \t\r") != std::string::npos)
      return read_transcript(*line, lines_.source(), rules_);
  return std::nullopt;
}

namespace {

bool read_file(const std::string& path, walk::Rules rules,
               const std::function<void(const Transcript&)>& use) {
  TranscriptReader reader(path, rules);
  bool good = true, any = false;
  for (bool more = true; more;) {
    std::optional<Transcript> transcript;
    try {
      transcript = reader.next();
      more = transcript.has_value();
      any = any || more;
    } catch (const Error& error) {
      print_error(error.what());
      good = false;
    }
    if (!transcript) continue;
    try {
      use(*transcript);
    } catch (const Error& error) {
      print_error(fmt::format("{}: line {}: {}", transcript->file, transcript->line, error.what()));
      good = false;
    }
  }
  if (!any && good) fail("{}: no line; expected an episode a line", reader.source());
  return good;
}

}  // namespace

bool read_transcripts(const std::vector<std::string>& paths, walk::Rules rules,
                      const std::function<void(const Transcript&)>& use) {
  bool good = true;
  for (const std::string& path : paths) {
    try {
      good = read_file(path, rules, use) && good;
    } catch (const Error& error) {
      print_error(error.what());
      good = false;
    }
  }
  return good;
}

}  // namespace fuselage::cli
