#include "fuselage/serve/session.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "fuselage/core/error.h"
#include "fuselage/core/json_append.h"

namespace fuselage::serve {
namespace {

constexpr std::string_view unread_observation = R"({\"error\":\"Parse error\"})";
constexpr std::string_view unread_info = R"({"error":"Parse error"})";

// The observation is made in a buffer that each thread keeps, and escaped from there.
void append_observation(std::string& out, Dialect dialect, const Session& session, bool read) {
  thread_local std::string text;
  out += dialect == Dialect::own ? R"("observation":)" : R"("observation":{"text":)";
  if (read) {
    text.clear();
    session.episode->append_observation(text);
    append_json_string(out, text);
  } else {
    out += '"';
    out += unread_observation;
    out += '"';
  }
  if (dialect == Dialect::openenv) {
    out += R"(,"family":")";
    out += session.episode->family();
    out += "\"}";
  }
}

void append_reward(std::string& out, double reward, bool done) {
  out += R"(,"reward":)";
  append_json_number(out, reward);
  out += done ? R"(,"done":true)" : R"(,"done":false)";
}

void append_names(std::string& out, const Session& session) {
  out += R"("episode_id":)";
  append_json_string(out, session.id);
  out += R"(,"name":)";
  append_json_string(out, session.name);
  fmt::format_to(std::back_inserter(out), R"(,"seed":{})", session.seed);
}

}  // namespace

void append_reset(std::string& out, Dialect dialect, const Session& session) {
  append_observation(out, dialect, session, true);
  append_reward(out, 0, false);
  out += R"(,"metadata":{)";
  append_names(out, session);
  if (!session.warning.empty()) {
    out += R"(,"warning":)";
    append_json_string(out, session.warning);
  }
  out += '}';
}

void append_step(std::string& out, Dialect dialect, const Session& session) {
  const StepReply& last = session.last;
  append_observation(out, dialect, session, last.read);
  append_reward(out, last.reward, last.done);
  const bool ended = last.done && last.read;
  if (dialect == Dialect::own) {
    out += R"(,"info":)";
    if (last.read)
      session.episode->append_info(out);
    else
      out += unread_info;
    if (!ended) return;
    out += R"(,"score":)";
    append_json_number(out, session.episode->score());
    return;
  }
  out += R"(,"metadata":{"info":)";
  if (last.read)
    session.episode->append_info(out);
  else
    out += unread_info;
  if (ended) {
    out += R"(,"score":)";
    append_json_number(out, session.episode->score());
  }
  out += '}';
}

void append_state(std::string& out, Dialect dialect, const Session& session) {
  if (dialect == Dialect::openenv) {
    append_names(out, session);
    fmt::format_to(std::back_inserter(out), R"(,"step_count":{},)", session.episode->steps());
  }
  session.episode->append_state(out);
}

void step(Hub& hub, Session& session, std::string_view command) {
  session.last = session.episode->step(command);
  hub.metrics.add(Metrics::Count::steps);
  if (!session.last.read) hub.metrics.add(Metrics::Count::unread);
}

std::string command_of(const JsonField& action) {
  constexpr std::array<std::string_view, 5> known = {"command", "fuse_with_prev", "tile", "retain",
                                                     "metadata"};
  action.only(known);
  if (const auto command = action.optional("command")) return command->string();
  nlohmann::ordered_json fields = nlohmann::ordered_json::object();
  for (std::string_view key : {"fuse_with_prev", "tile", "retain"})
    if (const auto field = action.optional(key)) fields[std::string(key)] = field->value();
  if (fields.empty())
    action.refuse("holds no action", "fuse_with_prev, tile and retain, or the action's text as command");
  return fields.dump();
}

}  // namespace fuselage::serve
