// The columns of each format: what TRL's trainers ask for, one schema for all rows, and labels that are those
// of the states.

#include "fuselage/oracle/data_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fuselage/core/python_random.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/memory_bound.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;

constexpr std::array<RowFormat, 8> formats = {RowFormat::graphs, RowFormat::sft, RowFormat::prompt_completion,
                                              RowFormat::dpo,    RowFormat::kto, RowFormat::grpo,
                                              RowFormat::prm,    RowFormat::raw};

LabelledGraph labelled(const Workload& workload, std::uint64_t steps = 1'000'000) {
  LabelOptions options{
      .mix = parse_policy_mix("optimal,eps0.5,random,constant128", "mix"), .episodes = 4, .seed = 3};
  options.budget.steps = steps;
  return label_walk(workload, options).value();
}

// A task, a graph of one node, one on which nothing costs anything, and one whose values aren't proven.
const std::vector<LabelledGraph>& all_graphs() {
  static const std::vector<LabelledGraph> graphs = [] {
    PythonRandom random(4);
    const Hardware machine{.fast_mem_capacity = 1 << 20,
                           .slow_mem_bandwidth = 4,
                           .kernel_launch_cost = 9,
                           .max_fusion_depth = 3};
    Workload free{
        .name = "free",
        .graph = Graph({derived_node(Op::transpose, 8, 8, {}), derived_node(Op::transpose, 8, 8, {0})}),
        .hardware = {.fast_mem_capacity = 1 << 20,
                     .slow_mem_bandwidth = 0,
                     .kernel_launch_cost = 0,
                     .max_fusion_depth = 3}};
    return std::vector<LabelledGraph>{
        labelled(walk::make_task(*walk::find_task("task4_mixed"))),
        labelled(
            {.name = "\"one\"\n", .graph = Graph({derived_node(Op::relu, 32, 32, {})}), .hardware = machine}),
        labelled(free), labelled(walk::generate_memory_bound({}, random), 20)};
  }();
  return graphs;
}

std::vector<ordered_json> parse_rows(const std::string& text) {
  std::vector<ordered_json> rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    rows.push_back(ordered_json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return rows;
}

std::vector<ordered_json> rows_of(RowFormat format, const LabelledGraph& graph, const RowOptions& options) {
  std::string text;
  const std::size_t count = append_rows(format, graph, 12, options, text);
  std::vector<ordered_json> rows = parse_rows(text);
  EXPECT_EQ(rows.size(), count);
  return rows;
}

RowOptions with(std::string system, bool plain) {
  return {.system = std::move(system), .plain = plain};
}

// As a reader that takes the schema from the first rows sees it: "float", "list of text", ...
std::string type_of(const ordered_json& value) {
  if (value.is_boolean()) return "bool";
  if (value.is_number_float()) return "float";
  if (value.is_number_integer()) return "integer";
  if (value.is_string()) return "text";
  if (value.is_object()) {
    std::string type = "{";
    for (const auto& [key, inner] : value.items()) type += key + ": " + type_of(inner) + ", ";
    return type + "}";
  }
  if (!value.is_array()) return "null";
  if (value.empty()) return "empty list";
  for (const ordered_json& inner : value)
    if (type_of(inner) != type_of(value.front())) return "mixed list";
  return "list of " + type_of(value.front());
}

TEST(DataRows, have_one_schema_each) {
  for (RowFormat format : formats) {
    for (const RowOptions& options :
         {with("Decide.", false), with("", false), with("Decide.", true), with("", true)}) {
      std::vector<std::string> names;
      for (const RowColumn& column : columns_of(format)) names.emplace_back(column.name);
      std::map<std::string, std::string> types;
      for (const LabelledGraph& graph : all_graphs()) {
        for (const ordered_json& row : rows_of(format, graph, options)) {
          std::vector<std::string> keys;
          for (const auto& [key, value] : row.items()) {
            keys.push_back(key);
            const std::string type = type_of(value);
            EXPECT_EQ(types.try_emplace(key, type).first->second, type) << name(format) << " " << key;
            EXPECT_EQ(type.find("null"), std::string::npos) << name(format) << " " << key;
            EXPECT_EQ(type.find("empty"), std::string::npos) << name(format) << " " << key;
            EXPECT_EQ(type.find("mixed"), std::string::npos) << name(format) << " " << key;
          }
          EXPECT_EQ(keys, names) << name(format);
        }
      }
      EXPECT_EQ(types.size(), names.size()) << name(format) << ": no rows";
    }
  }
}

TEST(DataRows, every_column_has_a_meaning_and_appears_once) {
  for (RowFormat format : formats) {
    std::set<std::string_view> names;
    for (const RowColumn& column : columns_of(format)) {
      EXPECT_TRUE(names.insert(column.name).second) << name(format) << " " << column.name;
      EXPECT_FALSE(column.meaning.empty()) << column.name;
      EXPECT_EQ(column.meaning.find('|'), std::string_view::npos) << "breaks the card's table";
    }
  }
}

// The rules of TRL's dataset formats, for each way of writing prompts.
class TrlColumns : public ::testing::TestWithParam<std::pair<std::string, bool>> {
 protected:
  std::vector<ordered_json> rows(RowFormat format) const {
    return rows_of(format, all_graphs().front(), with(GetParam().first, GetParam().second));
  }
  // Messages as `roles` speak them.
  static void expect_messages(const ordered_json& messages, const std::vector<std::string>& roles) {
    ASSERT_TRUE(messages.is_array());
    std::vector<std::string> spoke;
    for (const ordered_json& message : messages) {
      ASSERT_EQ(message.size(), 2U);
      spoke.push_back(message.at("role"));
      EXPECT_FALSE(message.at("content").get<std::string>().empty());
    }
    EXPECT_EQ(spoke, roles);
  }
  std::vector<std::string> asking() const {
    return GetParam().first.empty() ? std::vector<std::string>{"user"}
                                    : std::vector<std::string>{"system", "user"};
  }
  void expect_prompt(const ordered_json& prompt) const {
    if (GetParam().second) {
      const std::string before = GetParam().first.empty() ? "{" : GetParam().first + "\n\n{";
      EXPECT_EQ(prompt.get<std::string>().substr(0, before.size()), before);
    } else {
      expect_messages(prompt, asking());
    }
  }
  void expect_answer(const ordered_json& answer) const {
    if (GetParam().second) {
      EXPECT_TRUE(answer.is_string());
    } else {
      expect_messages(answer, {"assistant"});
    }
  }
};

TEST_P(TrlColumns, sft) {
  std::vector<std::string> roles = asking();
  roles.emplace_back("assistant");
  for (const ordered_json& row : rows(RowFormat::sft)) expect_messages(row.at("messages"), roles);
}

TEST_P(TrlColumns, prompt_completion_and_grpo) {
  for (const ordered_json& row : rows(RowFormat::prompt_completion)) {
    expect_prompt(row.at("prompt"));
    expect_answer(row.at("completion"));
  }
  for (const ordered_json& row : rows(RowFormat::grpo)) {
    expect_prompt(row.at("prompt"));
    EXPECT_FALSE(row.contains("completion"));
  }
}

TEST_P(TrlColumns, dpo) {
  const auto all = rows(RowFormat::dpo);
  EXPECT_GT(all.size(), 10U);
  for (const ordered_json& row : all) {
    expect_prompt(row.at("prompt"));
    expect_answer(row.at("chosen"));
    expect_answer(row.at("rejected"));
    EXPECT_NE(row.at("chosen"), row.at("rejected"));
  }
}

TEST_P(TrlColumns, kto) {
  std::map<bool, int> labels;
  for (const ordered_json& row : rows(RowFormat::kto)) {
    expect_prompt(row.at("prompt"));
    expect_answer(row.at("completion"));
    ++labels[row.at("label").get<bool>()];
  }
  EXPECT_GT(labels[true], 10);
  EXPECT_GT(labels[false], 10);
}

TEST_P(TrlColumns, prm) {
  const auto all = rows(RowFormat::prm);
  std::set<std::vector<std::string>> played;
  for (const LabelledEpisode& episode : all_graphs().front().episodes) played.insert(episode.answers);
  EXPECT_EQ(all.size(), played.size()) << "an episode a row, none twice";
  for (const ordered_json& row : all) {
    EXPECT_TRUE(row.at("prompt").is_string());
    EXPECT_EQ(type_of(row.at("completions")), "list of text");
    EXPECT_EQ(type_of(row.at("labels")), "list of bool");
    EXPECT_EQ(row.at("completions").size(), row.at("labels").size());
    EXPECT_EQ(row.at("completions").size(), row.at("regrets").size());
  }
}

INSTANTIATE_TEST_SUITE_P(prompts, TrlColumns,
                         ::testing::Values(std::pair("Decide.\n\"now\"", false), std::pair("", false),
                                           std::pair("Decide.", true), std::pair("", true)));

TEST(DataRows, observations_are_the_environments_to_the_byte) {
  const LabelledGraph& graph = all_graphs().front();
  const auto messages = rows_of(RowFormat::sft, graph, with("Decide.", false));
  const auto plain = rows_of(RowFormat::prompt_completion, graph, with("Decide.", true));
  const auto raw = rows_of(RowFormat::raw, graph, with("Decide.", false));
  ASSERT_EQ(messages.size(), graph.states.size());
  for (std::size_t i = 0; i < graph.states.size(); ++i) {
    EXPECT_EQ(messages[i].at("messages").at(1).at("content"), graph.states[i].observation);
    EXPECT_EQ(plain[i].at("prompt"), "Decide.\n\n" + graph.states[i].observation);
    EXPECT_EQ(raw[i].at("observation"), graph.states[i].observation);
  }
}

TEST(DataRows, figures_of_the_formats_agree) {
  for (const LabelledGraph& graph : all_graphs()) {
    const auto raw = rows_of(RowFormat::raw, graph, {});
    std::map<std::string, ordered_json> by_id;
    for (const ordered_json& row : raw) {
      by_id[row.at("id")] = row;
      const std::size_t count = row.at("answers").size();
      bool best_is_optimal = false;
      for (const char* list : {"q", "advantage", "optimal", "proven"}) ASSERT_EQ(row.at(list).size(), count);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_LE(row.at("advantage")[i].get<double>(), 0);
        EXPECT_EQ(row.at("advantage")[i] == 0, row.at("optimal")[i]);
        best_is_optimal = best_is_optimal || (row.at("answers")[i] == row.at("best") && row.at("optimal")[i]);
      }
      EXPECT_TRUE(best_is_optimal);
      EXPECT_GE(row.at("gap").get<double>(), 0);
      if (row.at("proof") == "optimal") {
        EXPECT_EQ(row.at("gap"), 0);
      }
    }
    EXPECT_EQ(by_id.size(), raw.size()) << "ids are not unique";
    for (const ordered_json& row : rows_of(RowFormat::dpo, graph, with("", true))) {
      EXPECT_EQ(row.at("chosen"), by_id.at(row.at("id")).at("best"));
      EXPECT_EQ(row.at("q_difference").get<double>(),
                row.at("q_rejected").get<double>() - row.at("q_chosen").get<double>());
    }
    for (const ordered_json& row : rows_of(RowFormat::kto, graph, with("", true)))
      EXPECT_EQ(row.at("label"), row.at("q_difference") == 0);
  }
}

TEST(DataRows, bad_answers_lose_the_threshold) {
  const LabelledGraph& graph = all_graphs().front();
  std::size_t before = 0;
  for (const double threshold : {0.5, 0.1, 0.01, 0.0}) {
    RowOptions options;
    options.threshold = threshold;
    const auto pairs = rows_of(RowFormat::dpo, graph, options);
    for (const ordered_json& row : pairs) {
      EXPECT_GE(row.at("q_difference").get<double>(), threshold * graph.optimum.cycles);
      EXPECT_GT(row.at("q_difference").get<double>(), 0);
    }
    EXPECT_GE(pairs.size(), before);
    before = pairs.size();
  }
  EXPECT_GT(before, 20U);
  for (const ordered_json& row : rows_of(RowFormat::kto, all_graphs()[2], {}))
    EXPECT_TRUE(row.at("label").get<bool>()) << "where nothing costs anything no answer is bad";
}

TEST(DataRows, graph_without_states_has_a_row_of_its_own_only) {
  const LabelledGraph graph =
      label_walk(walk::make_task(walk::tasks()[0]), {}, {{.policy = "p", .answers = {"[]"}}}).value();
  for (RowFormat format : formats)
    EXPECT_EQ(rows_of(format, graph, {}).size(), format == RowFormat::graphs ? 1U : 0U) << name(format);
}

TEST(RowIds, are_read_or_not) {
  const auto id = parse_row_id("12.3.45");
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->graph, 12U);
  EXPECT_EQ(id->episode, 3U);
  EXPECT_EQ(id->step, 45);
  for (const char* text : {"", "1", "1.", "1.2", "1.2.", "1.2.x", "1.2.3x", "1.2.3.4", "-1.2.3", "1.-2.3",
                           "1.2.-3", " 1.2.3", ".2.3", "1..3", "99999999999999999999.1.1", "1.2.99999999999"})
    EXPECT_FALSE(parse_row_id(text).has_value()) << text;
}

}  // namespace
}  // namespace fuselage::oracle
