// The Model Context Protocol over the sessions of this server: JSON-RPC 2.0 with the methods initialize,
// ping, tools/list and tools/call, and the tools reset, schedule, state and hint.
#pragma once

#include <functional>
#include <string>

#include "fuselage/core/json.h"
#include "fuselage/serve/session.h"

namespace fuselage::serve {

inline constexpr std::string_view mcp_version = "2025-06-18";

// What a tool does with the session that it is about; `id` is the argument session_id, empty if there is
// none. Throws Error if there is no such session.
using FindSession = std::function<Session&(const std::string& id)>;
// Begins an episode for the tool reset; the session that it is in.
using BeginSession = std::function<Session&(const JsonField& arguments)>;

struct McpTools {
  FindSession find;
  BeginSession begin;
};

// The reply to one request; empty for a notification, which has none.
std::string answer_mcp(Hub& hub, const Json& request, const McpTools& tools);

// Names, descriptions and argument schemas of the tools, as tools/list gives them.
std::string mcp_tools(bool hints);

}  // namespace fuselage::serve
