#include "fuselage/oracle/data_rows.h"

namespace fuselage::oracle {
namespace {

using Columns = std::vector<RowColumn>;

const Columns& identity() {
  static const Columns columns = {
      {"id", "graph's index, episode and step: the same state has the same id in every format"},
      {"graph", "name of the graph"},
      {"graph_hash", "first 16 hex digits of the hash that decides the split"},
      {"ops", "nodes of the graph"},
      {"policy", "whose episode got into this state first"},
      {"rules", "the rule set"},
      {"optimum", "least latency of the graph from the start, cycles"},
  };
  return columns;
}

const Columns& state() {
  static const Columns columns = {
      {"step", "answers before this state"},
      {"latency", "of the whole episode if best answers follow from this state on, cycles"},
      {"proof", "of the values of the state and of all its answers: the weakest (see Labels)"},
      {"gap", "how much `latency` may lie above the least possible, as a fraction; 0 where it is proven"},
  };
  return columns;
}

const Columns& own(RowFormat format) {
  static const RowColumn prompt = {"prompt", "the observation, with the instructions before it"};
  static const RowColumn answers = {"answers", "canonical answers of the state"};
  static const RowColumn advantage = {
      "advantage",
      "by answer: value of the state minus that of the answer, cycles; 0 is optimal, else below 0"};
  static const RowColumn played = {"played", "answers that lead here from reset, a JSON list of texts"};
  static const RowColumn graph_json = {"graph_json", "graph and machine as JSON, as the command reads it"};
  static const RowColumn seed = {"seed", "of all that was drawn for the graph"};
  static const std::array<Columns, row_format_names.size()> all = {{
      {{"index", "of the graph in the data set"},
       {"graph", "its name"},
       {"graph_hash", "64 hex digits, of the ops in order with shapes, costs and edges, not of the machine"},
       {"ops", "nodes"},
       {"rules", "the rule set"},
       seed,
       {"greedy", "latency of the environment's greedy baseline, cycles"},
       {"naive", "latency of every node alone, cycles"},
       {"optimum", "least latency found, cycles"},
       {"optimum_score", "the environment's score of it"},
       {"lower_bound", "proven: no schedule takes less, cycles"},
       {"proof", "of the optimum"},
       {"states", "visited, none twice"},
       graph_json,
       {"episodes", "JSON list of {policy, actions}: with graph_json every row can be played again"}},
      {{"messages", "instructions, observation, and the best answer"}},
      {prompt, {"completion", "the best answer"}},
      {prompt,
       {"chosen", "the best answer"},
       {"rejected", "a worse one: the policy's own if it lost enough, else drawn"},
       {"q_chosen", "latency to come after `chosen`, cycles"},
       {"q_rejected", "after `rejected`, cycles"},
       {"q_difference", "how much `rejected` loses, cycles"}},
      {prompt,
       {"completion", "an answer"},
       {"label", "true: optimal; false: it loses at least the threshold"},
       {"q", "latency to come after it, cycles"},
       {"q_difference", "how much it loses, cycles"}},
      {prompt, seed, graph_json, played, answers, advantage},
      {{"latency", "of the episode, cycles"},
       {"score", "the environment's"},
       {"complete", "did the episode reach the end of the graph?"},
       {"proof", "of the optimum and of the values behind all labels: the weakest"},
       {"prompt", "the first observation"},
       {"completions", "the answers, step by step"},
       {"labels", "by step: was it optimal there?"},
       {"regrets", "by step: how much the least latency of the whole episode rose, cycles"}},
      {{"node", "that the answer is about; -1: it is about no single one"},
       {"observation", "the environment's text, to the byte"},
       {"spent", "latency so far, cycles"},
       {"value_to_go", "least latency to come, the open kernel's included, cycles"},
       {"lower_bound", "proven: no less is to come, cycles"},
       {"best", "the answer that other formats show"},
       {"taken", "what the policy answered"},
       {"taken_q", "latency to come after that, cycles"},
       answers,
       {"q", "by answer: latency to come if it is given and best answers follow, cycles"},
       advantage,
       {"optimal", "by answer: does none cost less? Ties are all optimal"},
       {"proven", "by answer: is its q proven?"},
       played},
  }};
  return all[static_cast<std::size_t>(format)];
}

void add(Columns& to, const Columns& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Columns columns_of(RowFormat format) {
  Columns columns;
  if (format != RowFormat::graphs) add(columns, identity());
  if (format != RowFormat::graphs && format != RowFormat::prm) add(columns, state());
  add(columns, own(format));
  return columns;
}

}  // namespace fuselage::oracle
