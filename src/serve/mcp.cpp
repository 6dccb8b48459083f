#include "fuselage/serve/mcp.h"

#include <array>
#include <optional>

#include "fuselage/core/error.h"

namespace fuselage::serve {
namespace {

using nlohmann::ordered_json;

// JSON-RPC 2.0, section 5.1.
enum RpcCode {
  parse_error = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_params = -32602
};

std::string error_reply(const Json& id, int code, const std::string& message) {
  return ordered_json{{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}}
      .dump();
}

std::string result_reply(const Json& id, const ordered_json& result) {
  return ordered_json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}.dump();
}

ordered_json tool_result(const std::string& text, bool is_error) {
  return {{"content", ordered_json::array({{{"type", "text"}, {"text", text}}})}, {"isError", is_error}};
}

ordered_json object_schema(const ordered_json& properties) {
  return {{"type", "object"}, {"properties", properties}};
}

ordered_json session_property() {
  return {{"type", "string"}, {"description", "of reset's answer; without it the latest session"}};
}

// {"session_id": ..., members}
std::string with_session(const Session& session, void (*append)(std::string&, Dialect, const Session&)) {
  std::string text = R"({"session_id":)" + json_string(session.id) + ",";
  append(text, Dialect::own, session);
  return text + "}";
}

std::string call_tool(Hub& hub, const std::string& name, const JsonField& arguments, const McpTools& tools) {
  if (name == "reset") return with_session(tools.begin(arguments), append_reset);
  const auto id = arguments.optional("session_id");
  Session& session = tools.find(id ? id->string() : std::string());
  if (name == "schedule") {
    Json action = arguments.value();
    action.erase("session_id");
    step(hub, session, command_of(JsonField(action, arguments.source())));
    return with_session(session, append_step);
  }
  if (name == "state") return with_session(session, append_state);
  std::string text = "{";
  append_hint(hub, *session.episode, text);
  return text + "}";
}

std::string answer_call(Hub& hub, const Json& id, const JsonField& params, const McpTools& tools) {
  const std::string name = params.required("name").string();
  constexpr std::array<std::string_view, 4> known = {"reset", "schedule", "state", "hint"};
  if (std::find(known.begin(), known.end(), name) == known.end())
    return error_reply(id, invalid_params,
                       fmt::format("unknown tool {}; expected one of {}", quote(name), join_names(known)));
  static const Json none = Json::object();
  const auto arguments = params.optional("arguments");
  try {
    return result_reply(
        id,
        tool_result(call_tool(hub, name, arguments ? *arguments : JsonField(none, params.source()), tools),
                    false));
  } catch (const Error& error) {
    return result_reply(id, tool_result(error.what(), true));
  }
}

}  // namespace

std::string mcp_tools(bool hints) {
  ordered_json tools = ordered_json::array();
  tools.push_back(
      {{"name", "reset"},
       {"description",
        "Begins an episode: a fixed task, a random graph or one of yours. Returns the first observation."},
       {"inputSchema",
        object_schema({{"task", {{"type", "string"}, {"description", "such as task4_mixed"}}},
                       {"random", {{"type", "boolean"}}},
                       {"curriculum_level", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
                       {"num_ops", {{"type", "integer"}, {"minimum", 1}}},
                       {"difficulty", {{"type", "string"}, {"enum", {"easy", "medium", "hard", "expert"}}}},
                       {"seed", {{"type", "integer"}, {"minimum", 0}}},
                       {"family", {{"type", "string"}, {"enum", {"walk", "grid"}}}},
                       {"rules", {{"type", "string"}}}})}});
  tools.push_back(
      {{"name", "schedule"},
       {"description",
        "Decides the current node, or, with command, gives the action as text. Returns reward and the next "
        "observation."},
       {"inputSchema", object_schema({{"session_id", session_property()},
                                      {"fuse_with_prev", {{"type", "boolean"}}},
                                      {"tile", {{"type", "integer"}, {"enum", {32, 64, 128, 256}}}},
                                      {"retain", {{"type", "array"}, {"items", {{"type", "integer"}}}}},
                                      {"command", {{"type", "string"}}}})}});
  tools.push_back({{"name", "state"},
                   {"description", "The whole state of the episode."},
                   {"inputSchema", object_schema({{"session_id", session_property()}})}});
  if (hints)
    tools.push_back({{"name", "hint"},
                     {"description", "Optimal actions here, and what every action is worth."},
                     {"inputSchema", object_schema({{"session_id", session_property()}})}});
  return tools.dump();
}

std::string answer_mcp(Hub& hub, const Json& request, const McpTools& tools) {
  static const std::string source = "request";
  const Json id = request.is_object() && request.contains("id") ? request.at("id") : Json();
  try {
    const JsonField fields(request, source);
    if (!request.is_object() || fields.required("jsonrpc").string() != "2.0")
      return error_reply(id, invalid_request, "jsonrpc: expected \"2.0\"");
    const std::string method = fields.required("method").string();
    if (!request.contains("id")) return {};
    if (method == "ping") return result_reply(id, ordered_json::object());
    if (method == "tools/list")
      return result_reply(id, {{"tools", ordered_json::parse(mcp_tools(hub.options.oracle))}});
    if (method == "initialize")
      return result_reply(id, {{"protocolVersion", mcp_version},
                               {"capabilities", {{"tools", ordered_json::object()}}},
                               {"serverInfo", {{"name", "fuselage"}, {"version", hub.options.version}}}});
    if (method == "tools/call") return answer_call(hub, id, fields.required("params"), tools);
    return error_reply(id, unknown_method, fmt::format("unknown method {}", quote(method)));
  } catch (const Error& error) {
    return error_reply(id, invalid_request, error.what());
  }
}

}  // namespace fuselage::serve
