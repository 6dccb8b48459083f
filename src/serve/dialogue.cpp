#include "fuselage/serve/dialogue.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/json_append.h"
#include "fuselage/serve/mcp.h"

namespace fuselage::serve {
namespace {

constexpr JsonLimits message_limits = {.max_depth = 32, .max_values = 1'000'000, .object_only = true};
const std::string source = "message";
const Json no_fields = Json::object();

}  // namespace

// An answer that is an error, in the words of OpenEnv's codes.
struct Dialogue::Refused {
  std::string_view code;
  std::string message;
};

bool Dialogue::answer(std::string_view message, std::string& reply) {
  hub_.metrics.add(Metrics::Count::messages);
  const std::size_t begun = reply.size();
  try {
    return answer_message(message, reply);
  } catch (const Refused& refused) {
    reply.resize(begun);
    append_error(reply, refused.code, refused.message);
  } catch (const Error& error) {
    reply.resize(begun);
    append_error(reply, "VALIDATION_ERROR", error.what());
  } catch (const std::exception&) {
    reply.resize(begun);
    append_error(reply, "EXECUTION_ERROR", "internal error, a bug of the server");
    hub_.metrics.add(Metrics::Count::internal);
  }
  hub_.metrics.add(Metrics::Count::errors);
  return true;
}

bool Dialogue::answer_message(std::string_view text, std::string& reply) {
  Json json;
  try {
    json = parse_json(text, source, message_limits);
  } catch (const Error& error) {
    throw Refused{"INVALID_JSON", error.what()};
  }
  const JsonField message(json, source);
  const bool has_data = json.contains("data") && json.at("data").is_object();
  if (!dialect_) dialect_ = has_data ? Dialect::openenv : Dialect::own;
  if (!json.contains("type") || !json.at("type").is_string())
    throw Refused{"UNKNOWN_TYPE", "type: is missing; expected reset, step, state, close, ..."};
  const std::string& type = json.at("type").get_ref<const std::string&>();
  const JsonField fields(*dialect_ == Dialect::openenv ? (has_data ? json.at("data") : no_fields) : json,
                         source);
  if (type == "step") {
    step(fields, session_of(message), reply);
  } else if (type == "steps") {
    steps(fields, session_of(message), reply);
  } else if (type == "reset") {
    reset(fields, number_of(message), reply);
  } else if (type == "state") {
    state(session_of(message), reply);
  } else if (type == "clone") {
    clone(session_of(message), reply);
  } else if (type == "hint") {
    hint(session_of(message), reply);
  } else if (type == "mcp" && *dialect_ == Dialect::openenv) {
    reply += R"({"type":"mcp","data":)";
    // A tool's error is an Error; it goes into the tool's result.
    const auto as_tool = [](const auto& find) -> Session& {
      try {
        return find();
      } catch (const Refused& refused) {
        fail("{}", refused.message);
      }
    };
    // A connection sees its own sessions only: the first, or a clone of it.
    const auto with_id = [&](const std::string& id) -> Session& {
      if (id.empty()) return session_at(0);
      for (const auto& [number, session] : sessions_)
        if (session->id == id) return *session;
      throw Refused{
          "SESSION_ERROR",
          fmt::format("session_id: {} is none of this connection's; expected what reset gave", quote(id))};
    };
    const McpTools tools{.find = [&](const std::string& id) -> Session& {
                           return as_tool([&]() -> Session& { return with_id(id); });
                         },
                         .begin = [&](const JsonField& arguments) -> Session& {
                           return as_tool([&]() -> Session& { return begin_session(arguments, 0); });
                         }};
    const std::string answer = answer_mcp(hub_, fields.value(), tools);
    reply += answer.empty() ? "null" : answer;
    reply += '}';
  } else if (type == "close") {
    const std::size_t number = number_of(message);
    if (number == 0) return false;
    session_of(message);  // says so if there is none
    sessions_.erase(number);
    begin(reply, "close_result", "closed");
    fmt::format_to(std::back_inserter(reply), R"("session":{})", number);
    end(reply);
  } else {
    throw Refused{"UNKNOWN_TYPE",
                  fmt::format("type: {} is unknown; expected reset, step, steps, state, clone, "
                              "hint or close",
                              quote(type))};
  }
  return true;
}

std::size_t Dialogue::number_of(const JsonField& message) const {
  const auto number = message.optional("session");
  return number ? static_cast<std::size_t>(number->integer(0)) : 0;
}

Session& Dialogue::session_of(const JsonField& message) {
  return session_at(number_of(message));
}

Session& Dialogue::session_at(std::size_t number) {
  const auto found = sessions_.find(number);
  if (found == sessions_.end())
    throw Refused{"SESSION_ERROR", number == 0
                                       ? std::string("there is no episode yet; expected a reset first")
                                       : fmt::format("session: {} is unknown; expected a number that "
                                                     "clone gave",
                                                     number)};
  return *found->second;
}

Slot Dialogue::take_slot() {
  std::optional<Slot> slot = hub_.capacity.take(client_);
  if (!slot) throw Refused{"CAPACITY_REACHED", "no room for another session; try again later"};
  return *std::move(slot);
}

Session& Dialogue::begin_session(const JsonField& fields, std::size_t number) {
  if (number != 0) session_at(number);  // a clone that is there
  Started started = hub_.maker.start(fields);
  const auto id = fields.optional("episode_id");
  std::string session_id = id && id->value().is_string() ? id->string() : std::string();
  if (session_id.size() > 255) id->refuse("is too long", "at most 255 bytes");
  if (session_id.empty()) session_id = new_session_id();
  const auto old = sessions_.find(number);
  Slot slot = old == sessions_.end() ? take_slot() : std::move(old->second->slot);
  auto& session = sessions_[number];
  session = std::make_unique<Session>(std::move(session_id), std::move(slot), std::move(started));
  hub_.metrics.add(Metrics::Count::resets);
  return *session;
}

void Dialogue::reset(const JsonField& fields, std::size_t number, std::string& reply) {
  const Session& session = begin_session(fields, number);
  begin(reply, "reset_result", "observation");
  append_reset(reply, *dialect_, session);
  end(reply);
}

void Dialogue::step(const JsonField& fields, Session& session, std::string& reply) {
  if (*dialect_ == Dialect::openenv) {
    serve::step(hub_, session, command_of(fields));
  } else {
    const auto command = fields.optional("command");
    serve::step(hub_, session, command ? std::string_view(command->string()) : std::string_view());
  }
  begin(reply, "step_result", "observation");
  append_step(reply, *dialect_, session);
  end(reply);
}

void Dialogue::steps(const JsonField& fields, Session& session, std::string& reply) {
  const bool own = *dialect_ == Dialect::own;
  const JsonField actions = fields.required(own ? "commands" : "actions");
  const auto wanted = fields.optional("observations");
  const bool all = wanted && wanted->boolean();
  const std::size_t count = actions.array_size();
  if (count == 0 || count > hub_.options.most_batch)
    actions.refuse(fmt::format("has {} entries", count), fmt::format("1 to {}", hub_.options.most_batch));
  // None is taken before all of them are known to be actions.
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonField action = actions.element(i);
    commands.push_back(action.value().is_string() ? action.string() : command_of(action));
  }
  if (all) {
    std::string text;
    session.episode->append_observation(text);
    const std::size_t about = count * (2 * text.size() + 1'000);
    if (about > hub_.options.most_reply_bytes)
      actions.refuse(fmt::format("has {} entries, with observations some {} bytes of reply", count, about),
                     fmt::format("at most {} bytes", hub_.options.most_reply_bytes));
  }
  begin(reply, "steps_result", "observations");
  reply += R"("results":[)";
  for (std::size_t i = 0; i < count; ++i) {
    serve::step(hub_, session, commands[i]);
    reply += i == 0 ? "{" : ",{";
    if (all || i + 1 == count) {
      append_step(reply, *dialect_, session);
    } else {
      reply += R"("reward":)";
      append_json_number(reply, session.last.reward);
      reply += session.last.done ? R"(,"done":true)" : R"(,"done":false)";
    }
    reply += '}';
  }
  reply += ']';
  end(reply);
}

void Dialogue::state(const Session& session, std::string& reply) {
  begin(reply, "state_result", "state");
  append_state(reply, *dialect_, session);
  end(reply);
}

void Dialogue::clone(const Session& session, std::string& reply) {
  Started copy{.episode = session.episode->clone(), .name = session.name, .seed = session.seed};
  const std::size_t number = next_;
  sessions_[number] = std::make_unique<Session>(new_session_id(), take_slot(), std::move(copy));
  ++next_;
  begin(reply, "clone_result", "cloned");
  fmt::format_to(std::back_inserter(reply), R"("session":{})", number);
  end(reply);
}

void Dialogue::hint(Session& session, std::string& reply) {
  begin(reply, "hint_result", "hint");
  try {
    append_hint(hub_, *session.episode, reply);
  } catch (const Error& error) {
    throw Refused{"EXECUTION_ERROR", error.what()};
  }
  end(reply);
}

void Dialogue::begin(std::string& reply, std::string_view own, std::string_view openenv) const {
  reply += R"({"type":")";
  reply += *dialect_ == Dialect::own ? own : openenv;
  reply += *dialect_ == Dialect::own ? "\"," : R"(","data":{)";
}

void Dialogue::end(std::string& reply) const {
  reply += *dialect_ == Dialect::own ? "}" : "}}";
}

void Dialogue::append_error(std::string& reply, std::string_view code, std::string_view message) const {
  if (dialect_ == Dialect::openenv) {
    reply += R"({"type":"error","data":{"message":)";
    append_json_string(reply, message);
    fmt::format_to(std::back_inserter(reply), R"(,"code":"{}"}}}})", code);
    return;
  }
  reply += R"({"error":)";
  append_json_string(reply, message);
  fmt::format_to(std::back_inserter(reply), R"(,"code":"{}"}})", code);
}

}  // namespace fuselage::serve
