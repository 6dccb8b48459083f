#include "fuselage/serve/http_api.h"

#include <fmt/format.h>

#include "fuselage/core/error.h"
#include "fuselage/core/json_append.h"
#include "fuselage/serve/mcp.h"

namespace fuselage::serve {
namespace {

const std::string source = "body";
const Json no_fields = Json::object();
constexpr JsonLimits body_limits = {.max_depth = 32, .max_values = 1'000'000, .object_only = true};
constexpr std::size_t longest_id = 255;

struct Refused {
  int status;
  std::string message;
};

std::string error_body(std::string_view message) {
  std::string body = R"({"error":)";
  append_json_string(body, message);
  return body + "}";
}

}  // namespace

struct HttpApi::Call {
  const HttpRequest& request;
  std::string_view path;   // without the query
  std::string_view query;  // without the question mark
  std::string_view id;     // of "/step/ID"
  Json body = Json::object();

  JsonField fields() const { return {body, source}; }
};

std::string query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view item = query.substr(0, end);
    if (item.size() > key.size() && item.starts_with(key) && item[key.size()] == '=')
      return std::string(item.substr(key.size() + 1));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return {};
}

HttpApi::HttpApi(Hub& hub) : hub_(hub), documents_(documents(hub.options.version, hub.options.oracle)) {}

HttpReply HttpApi::answer(const HttpRequest& request) {
  hub_.metrics.add(Metrics::Count::http_requests);
  try {
    const std::size_t mark = std::min(request.target.find('?'), request.target.size());
    Call call{.request = request,
              .path = request.target.substr(0, mark),
              .query = request.target.substr(std::min(mark + 1, request.target.size())),
              .id = {}};
    const std::size_t slash = call.path.find('/', 1);
    if (slash != std::string_view::npos) {
      call.id = call.path.substr(slash + 1);
      call.path = call.path.substr(0, slash + 1);
      if (call.id.empty() || call.id.size() > longest_id || call.id.find('/') != std::string_view::npos)
        throw Refused{404, "there is no such path"};
    }
    return route(call);
  } catch (const Refused& refused) {
    hub_.metrics.add(Metrics::Count::errors);
    return {.status = refused.status, .body = error_body(refused.message)};
  } catch (const Error& error) {
    hub_.metrics.add(Metrics::Count::errors);
    return {.status = 400, .body = error_body(error.what())};
  } catch (const std::exception&) {
    hub_.metrics.add(Metrics::Count::errors);
    hub_.metrics.add(Metrics::Count::internal);
    return {.status = 500, .body = error_body("internal error, a bug of the server")};
  }
}

HttpReply HttpApi::route(const Call& call) {
  const std::string_view method = call.request.method;
  if (method == "GET" || method == "HEAD") return get(call);
  if (method == "POST") return post(call);
  if (method == "DELETE" && call.path == "/session/") {
    if (!sessions_.remove(std::string(call.id))) throw Refused{404, "Session not found"};
    return {.body = R"({"closed":true})"};
  }
  throw Refused{405, fmt::format("{} is not answered here; expected GET, POST or DELETE", method)};
}

HttpReply HttpApi::get(const Call& call) {
  const std::string_view path = call.path;
  if (path == "/") return {.body = documents_.root};
  if (path == "/health") return {.body = R"({"status":"healthy"})"};
  if (path == "/tasks") return {.body = documents_.tasks};
  if (path == "/metadata") return {.body = documents_.metadata};
  if (path == "/schema") return {.body = documents_.schema};
  if (path == "/openapi.json") return {.body = documents_.openapi};
  if (path == "/metrics")
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = hub_.metrics.text()};
  if (path == "/web") return {.type = "text/html; charset=utf-8", .body = std::string(web_page())};
  if (path == "/state" || path == "/state/") return state(call);
  if (path == "/hint" || path == "/hint/") return hint(call);
  for (std::string_view other : {"/reset", "/step", "/step/", "/clone/", "/mcp"})
    if (path == other) throw Refused{405, "GET is not answered here; expected POST"};
  throw Refused{404, "there is no such path; GET /openapi.json lists them"};
}

HttpReply HttpApi::post(const Call& call) {
  Call with_body = call;
  const bool has_body = call.request.body.find_first_not_of(" \t\r\n") != std::string_view::npos;
  if (call.path == "/mcp") return mcp(call);
  if (has_body) with_body.body = parse_json(call.request.body, source, body_limits);
  if (call.path == "/reset") return reset(with_body);
  if (call.path == "/step" || call.path == "/step/") return step(with_body);
  if (call.path == "/clone/") return clone(with_body);
  throw Refused{404, "there is no such path; GET /openapi.json lists them"};
}

Slot HttpApi::take_slot(const Call& call) {
  std::optional<Slot> slot = hub_.capacity.take(call.request.client);
  if (!slot) throw Refused{503, "no room for another session; try again later"};
  return *std::move(slot);
}

// Nobody else knows of it until it is published.
std::shared_ptr<SessionStore::Kept> HttpApi::begin(const Call& call, const JsonField& fields) {
  Slot slot = take_slot(call);
  Started started = hub_.maker.start(fields);
  hub_.metrics.add(Metrics::Count::resets);
  return std::make_shared<SessionStore::Kept>(Session(new_session_id(), std::move(slot), std::move(started)),
                                              call.request.client);
}

// By id, or the latest of the client.
std::shared_ptr<SessionStore::Kept> HttpApi::session_of(const Call& call, std::string id) {
  if (id.empty()) id = call.id;
  if (id.empty()) id = query_value(call.query, "session_id");
  auto kept = id.empty() ? sessions_.latest(call.request.client) : sessions_.find(id);
  if (!kept) throw Refused{404, "Session not found"};
  return kept;
}

HttpReply HttpApi::reset(const Call& call) {
  const JsonField fields = call.fields();
  const bool openenv = fields.has("episode_id") || query_value(call.query, "dialect") == "openenv";
  const auto kept = begin(call, fields);
  HttpReply reply{.body = R"({"session_id":)"};
  append_json_string(reply.body, kept->session.id);
  reply.body += ',';
  append_reset(reply.body, openenv ? Dialect::openenv : Dialect::own, kept->session);
  reply.body += '}';
  sessions_.publish(kept);
  return reply;
}

HttpReply HttpApi::step(const Call& call) {
  const JsonField fields = call.fields();
  const auto action = fields.optional("action");
  const auto id = fields.optional("session_id");
  std::string command;
  if (action)
    command = command_of(*action);
  else
    command = fields.required("command").string();
  const auto kept = session_of(call, id ? id->string() : std::string());
  const std::scoped_lock guard(kept->lock);
  serve::step(hub_, kept->session, command);
  HttpReply reply{.body = "{"};
  append_step(reply.body, action ? Dialect::openenv : Dialect::own, kept->session);
  reply.body += '}';
  if (kept->session.episode->done()) sessions_.remove(kept->session.id);
  return reply;
}

HttpReply HttpApi::state(const Call& call) {
  const auto kept = session_of(call, {});
  const std::scoped_lock guard(kept->lock);
  HttpReply reply{.body = "{"};
  append_state(reply.body, call.id.empty() ? Dialect::openenv : Dialect::own, kept->session);
  reply.body += '}';
  return reply;
}

HttpReply HttpApi::clone(const Call& call) {
  const auto kept = session_of(call, {});
  Started copy;
  {
    const std::scoped_lock guard(kept->lock);
    copy = {
        .episode = kept->session.episode->clone(), .name = kept->session.name, .seed = kept->session.seed};
  }
  const auto made = std::make_shared<SessionStore::Kept>(
      Session(new_session_id(), take_slot(call), std::move(copy)), call.request.client);
  HttpReply reply{.body = R"({"session_id":)"};
  append_json_string(reply.body, made->session.id);
  reply.body += '}';
  sessions_.publish(made);
  return reply;
}

HttpReply HttpApi::hint(const Call& call) {
  const auto kept = session_of(call, {});
  const std::scoped_lock guard(kept->lock);
  HttpReply reply{.body = "{"};
  append_hint(hub_, *kept->session.episode, reply.body);
  reply.body += '}';
  return reply;
}

HttpReply HttpApi::mcp(const Call& call) {
  Json request;
  try {
    request = parse_json(call.request.body, source, {.max_depth = 32, .max_values = 1'000'000});
  } catch (const Error& error) {
    std::string body = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":)";
    append_json_string(body, error.what());
    return {.body = body + "}}"};
  }
  std::shared_ptr<SessionStore::Kept> kept;  // locked while the tool is at work
  std::unique_lock<std::mutex> guard;
  const auto hold = [&](std::shared_ptr<SessionStore::Kept> found) -> Session& {
    kept = std::move(found);
    guard = std::unique_lock(kept->lock);
    return kept->session;
  };
  const McpTools tools{.find = [&](const std::string& id) -> Session& {
                         auto found = id.empty() ? sessions_.latest(call.request.client) : sessions_.find(id);
                         if (!found)
                           fail("session_id: {} is unknown; expected one that reset gave", quote(id));
                         return hold(std::move(found));
                       },
                       .begin = [&](const JsonField& arguments) -> Session& {
                         std::shared_ptr<SessionStore::Kept> begun;
                         try {
                           begun = begin(call, arguments);
                         } catch (const Refused& refused) {
                           fail("{}", refused.message);  // goes into the tool's result
                         }
                         Session& session = hold(begun);
                         sessions_.publish(std::move(begun));
                         return session;
                       }};
  std::string body = answer_mcp(hub_, request, tools);
  if (kept && kept->session.episode->done()) sessions_.remove(kept->session.id);
  if (body.empty()) return {.status = 202};
  return {.body = std::move(body)};
}

void HttpApi::reap() {
  const auto idle = std::chrono::duration_cast<SessionStore::Clock::duration>(
      std::chrono::duration<double>(hub_.options.idle_seconds));
  hub_.metrics.add(Metrics::Count::reaped, sessions_.reap(SessionStore::Clock::now() - idle));
}

}  // namespace fuselage::serve
