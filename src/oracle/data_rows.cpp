#include "fuselage/oracle/data_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>

#include "fuselage/core/json_append.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t short_hash = 16;  // hex digits of a graph's hash that rows show

// One JSON object, key by key.
class Row {
 public:
  explicit Row(std::string& out) : out_(out) { out_ += '{'; }
  ~Row() { out_ += "}\n"; }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  std::string& key(std::string_view name) {
    if (!first_) out_ += ", ";
    first_ = false;
    append_json_string(out_, name);
    out_ += ": ";
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_json_string(key(name), value); }
  void number(std::string_view name, double value) { append_json_number(key(name), value); }
  void integer(std::string_view name, std::uint64_t value) { append_integer(name, value); }
  void integer(std::string_view name, int value) { append_integer(name, value); }
  void boolean(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  template <class Items, class Append>
  void list(std::string_view name, const Items& items, const Append& append) {
    key(name) += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ", ";
      first = false;
      append(out_, item);
    }
    out_ += ']';
  }

 private:
  template <class Integer>
  void append_integer(std::string_view name, Integer value) {
    fmt::format_to(std::back_inserter(key(name)), "{}", value);
  }

  std::string& out_;
  bool first_ = true;
};

void append_text(std::string& out, const std::string& text) {
  append_json_string(out, text);
}

// A list of texts as a JSON text.
std::string list_text(std::span<const std::string> texts) {
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ", ";
    append_json_string(list, text);
  }
  return list + "]";
}

// How much dearer than what is proven possible, as a fraction.
double gap_of(double spent, const Value& value) {
  const double least = spent + value.lower_bound;
  return value.proven || least <= 0 ? 0 : (spent + value.cycles) / least - 1;
}

class GraphRows {
 public:
  GraphRows(const LabelledGraph& graph, std::size_t index, const RowOptions& options, std::string& out)
      : graph_(graph), index_(index), options_(options), out_(out) {}

  std::size_t graphs() {
    Row row(out_);
    row.integer("index", static_cast<std::uint64_t>(index_));
    row.text("graph", graph_.name);
    row.text("graph_hash", graph_.hash);
    row.integer("ops", graph_.ops);
    row.text("rules", options_.rules);
    row.integer("seed", graph_.seed);
    row.number("greedy", graph_.greedy);
    row.number("naive", graph_.naive);
    row.number("optimum", graph_.optimum.cycles);
    row.number("optimum_score", graph_.optimum_score);
    row.number("lower_bound", graph_.optimum.lower_bound);
    row.text("proof", search::name(graph_.proof));
    row.integer("states", static_cast<std::uint64_t>(graph_.states.size()));
    row.text("graph_json", graph_.graph);
    row.text("episodes", episodes_text());
    return 1;
  }

  std::size_t prm() {
    std::size_t rows = 0;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < graph_.episodes.size(); ++i) {
      const LabelledEpisode& episode = graph_.episodes[i];
      if (episode.answers.empty() || !seen.insert(list_text(episode.answers)).second) continue;
      ++rows;
      Row row(out_);
      identity(row, i, 0);
      row.number("latency", episode.latency);
      row.number("score", episode.score);
      row.boolean("complete", episode.complete);
      row.text("proof", search::name(episode.proof));
      row.text("prompt", plain_prompt(graph_.states.front()));
      row.list("completions", episode.answers, append_text);
      row.list("labels", episode.regrets,
               [](std::string& out, double regret) { out += regret > 0 ? "false" : "true"; });
      row.list("regrets", episode.regrets, append_json_number);
    }
    return rows;
  }

  std::size_t of_states(RowFormat format) {
    std::size_t rows = 0;
    for (std::size_t i = 0; i < graph_.states.size(); ++i) rows += of_state(format, i);
    return rows;
  }

 private:
  std::size_t of_state(RowFormat format, std::size_t at) {
    const LabelledState& state = graph_.states[at];
    const LabelledAnswer& best = state.answers[state.best];
    switch (format) {
      case RowFormat::sft: {
        Row row(out_);
        about(row, state);
        row.key("messages") += messages_before(state) + assistant(best) + "]";
        return 1;
      }
      case RowFormat::prompt_completion: {
        Row row(out_);
        about(row, state);
        prompt(row, state);
        answer(row, "completion", best);
        return 1;
      }
      case RowFormat::dpo:
        return dpo(state, best, bad_answer(at));
      case RowFormat::kto: {
        kto(state, best, true);
        const LabelledAnswer* bad = bad_answer(at);
        if (bad == nullptr) return 1;
        kto(state, *bad, false);
        return 2;
      }
      case RowFormat::grpo:
        grpo(state);
        return 1;
      case RowFormat::raw:
        raw(state);
        return 1;
      case RowFormat::graphs:
      case RowFormat::prm:
        break;
    }
    throw std::logic_error("no rows of states");
  }

  std::size_t dpo(const LabelledState& state, const LabelledAnswer& best, const LabelledAnswer* bad) {
    if (bad == nullptr) return 0;
    Row row(out_);
    about(row, state);
    prompt(row, state);
    answer(row, "chosen", best);
    answer(row, "rejected", *bad);
    row.number("q_chosen", best.q.cycles);
    row.number("q_rejected", bad->q.cycles);
    row.number("q_difference", bad->q.cycles - best.q.cycles);
    return 1;
  }

  void kto(const LabelledState& state, const LabelledAnswer& shown, bool good) {
    Row row(out_);
    about(row, state);
    prompt(row, state);
    answer(row, "completion", shown);
    row.boolean("label", good);
    row.number("q", shown.q.cycles);
    row.number("q_difference", good ? 0 : shown.q.cycles - state.answers[state.best].q.cycles);
  }

  void grpo(const LabelledState& state) {
    Row row(out_);
    about(row, state);
    prompt(row, state);
    row.integer("seed", graph_.seed);
    row.text("graph_json", graph_.graph);
    row.text("played", played_text(state));
    answers(row, state);
    advantages(row, state);
  }

  void raw(const LabelledState& state) {
    Row row(out_);
    about(row, state);
    row.integer("node", state.node);
    row.text("observation", state.observation);
    row.number("spent", state.spent);
    row.number("value_to_go", state.value.cycles);
    row.number("lower_bound", state.value.lower_bound);
    row.text("best", state.answers[state.best].text);
    row.text("taken", state.taken.text);
    row.number("taken_q", state.taken.q.cycles);
    answers(row, state);
    row.list("q", state.answers,
             [](std::string& out, const LabelledAnswer& a) { append_json_number(out, a.q.cycles); });
    advantages(row, state);
    row.list("optimal", state.answers,
             [](std::string& out, const LabelledAnswer& a) { out += a.optimal ? "true" : "false"; });
    row.list("proven", state.answers,
             [](std::string& out, const LabelledAnswer& a) { out += a.q.proven ? "true" : "false"; });
    row.text("played", played_text(state));
  }

  void answers(Row& row, const LabelledState& state) {
    row.list("answers", state.answers,
             [](std::string& out, const LabelledAnswer& a) { append_json_string(out, a.text); });
  }
  void advantages(Row& row, const LabelledState& state) {
    const double best = state.answers[state.best].q.cycles;
    row.list("advantage", state.answers, [best](std::string& out, const LabelledAnswer& a) {
      append_json_number(out, a.optimal ? 0 : best - a.q.cycles);
    });
  }

  // What the policy did here if it lost enough, else any answer that loses as much; null if none does. The
  // same for every format.
  const LabelledAnswer* bad_answer(std::size_t at) const {
    const LabelledState& state = graph_.states[at];
    const double best = state.answers[state.best].q.cycles;
    const double least = options_.threshold * graph_.optimum.cycles;
    const auto is_bad = [&](const LabelledAnswer& a) { return !a.optimal && a.q.cycles - best >= least; };
    if (!state.taken.text.empty() && is_bad(state.taken)) return &state.taken;
    const auto count = std::count_if(state.answers.begin(), state.answers.end(), is_bad);
    if (count == 0) return nullptr;
    search::SplitMix random(graph_.seed + 0x632be59bd9b4e019ULL * (at + 1));
    std::size_t left = random.below(static_cast<std::size_t>(count));
    for (const LabelledAnswer& a : state.answers)
      if (is_bad(a) && left-- == 0) return &a;
    return nullptr;
  }

  void identity(Row& row, std::size_t episode, int step) {
    row.text("id", fmt::format("{}.{}.{}", index_, episode, step));
    row.text("graph", graph_.name);
    row.text("graph_hash", std::string_view(graph_.hash).substr(0, short_hash));
    row.integer("ops", graph_.ops);
    row.text("policy", graph_.episodes[episode].policy);
    row.text("rules", options_.rules);
    row.number("optimum", graph_.optimum.cycles);
  }

  void about(Row& row, const LabelledState& state) {
    identity(row, state.episode, state.step);
    row.integer("step", state.step);
    row.number("latency", state.spent + state.answers[state.best].q.cycles);
    row.text("proof", search::name(state.proof));
    row.number("gap", gap_of(state.spent, state.value));
  }

  // "[{system}, {user}, ", to be ended.
  std::string messages_before(const LabelledState& state) const {
    std::string text = "[";
    if (!options_.system.empty()) text += message("system", options_.system) + ", ";
    return text + message("user", state.observation) + ", ";
  }
  static std::string message(std::string_view role, std::string_view content) {
    std::string text = fmt::format(R"({{"role": "{}", "content": )", role);
    append_json_string(text, content);
    return text + "}";
  }
  static std::string assistant(const LabelledAnswer& shown) { return message("assistant", shown.text); }

  std::string plain_prompt(const LabelledState& state) const {
    return options_.system.empty() ? state.observation : options_.system + "\n\n" + state.observation;
  }

  void prompt(Row& row, const LabelledState& state) const {
    if (options_.plain) {
      row.text("prompt", plain_prompt(state));
      return;
    }
    std::string text = messages_before(state);
    text.resize(text.size() - 2);
    row.key("prompt") += text + "]";
  }
  void answer(Row& row, std::string_view key, const LabelledAnswer& shown) const {
    if (options_.plain)
      row.text(key, shown.text);
    else
      row.key(key) += "[" + assistant(shown) + "]";
  }

  std::string played_text(const LabelledState& state) const {
    const std::vector<std::string>& all = graph_.episodes[state.episode].answers;
    return list_text(std::span(all).first(static_cast<std::size_t>(state.step)));
  }

  std::string episodes_text() const {
    std::string text = "[";
    for (const LabelledEpisode& episode : graph_.episodes) {
      if (text.size() > 1) text += ", ";
      text += R"({"policy": )";
      append_json_string(text, episode.policy);
      text += R"(, "actions": )" + list_text(episode.answers) + "}";
    }
    return text + "]";
  }

  const LabelledGraph& graph_;
  std::size_t index_;
  const RowOptions& options_;
  std::string& out_;
};

}  // namespace

std::size_t append_rows(RowFormat format, const LabelledGraph& graph, std::size_t index,
                        const RowOptions& options, std::string& out) {
  GraphRows rows(graph, index, options, out);
  if (format == RowFormat::graphs) return rows.graphs();
  if (graph.states.empty()) return 0;
  return format == RowFormat::prm ? rows.prm() : rows.of_states(format);
}

std::optional<RowId> parse_row_id(std::string_view text) {
  RowId id;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto read = [&](auto& value, bool last) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || (last ? next != end : next == end || *next != '.')) return false;
    at = next + 1;
    return true;
  };
  if (!read(id.graph, false) || !read(id.episode, false) || !read(id.step, true) || id.step < 0)
    return std::nullopt;
  return id;
}

}  // namespace fuselage::oracle
