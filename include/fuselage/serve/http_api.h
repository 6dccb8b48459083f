// The HTTP side of the server, without sockets: a request in, a reply out. Requests of the two dialects are
// told apart by their fields: `command` is the environment's own, `action` OpenEnv's. Of /reset both read the
// answer: `observation` is the text, unless the request has `episode_id` or ?dialect=openenv: then it is an
// object, as OpenEnv's clients have it.
#pragma once

#include <string>
#include <string_view>

#include "fuselage/serve/documents.h"
#include "fuselage/serve/hub.h"
#include "fuselage/serve/session_store.h"

namespace fuselage::serve {

struct HttpRequest {
  std::string_view method;  // GET, POST, DELETE, HEAD
  std::string_view target;  // path and query
  std::string_view body;
  std::string client;  // its address
};

struct HttpReply {
  int status = 200;
  std::string_view type = "application/json";
  std::string body = {};
};

// The value of a query's field ("a=1&b=2"); empty if it isn't there. Escapes are left as they are: ids,
// dialects and tokens have none.
std::string query_value(std::string_view query, std::string_view key);

class HttpApi {
 public:
  explicit HttpApi(Hub& hub);
  HttpReply answer(const HttpRequest& request);
  // Frees sessions that have been idle for too long.
  void reap();

 private:
  struct Call;
  HttpReply route(const Call& call);
  HttpReply get(const Call& call);
  HttpReply post(const Call& call);
  HttpReply reset(const Call& call);
  HttpReply step(const Call& call);
  HttpReply state(const Call& call);
  HttpReply clone(const Call& call);
  HttpReply hint(const Call& call);
  HttpReply mcp(const Call& call);
  Slot take_slot(const Call& call);
  std::shared_ptr<SessionStore::Kept> begin(const Call& call, const JsonField& fields);
  std::shared_ptr<SessionStore::Kept> session_of(const Call& call, std::string id);

  Hub& hub_;
  Documents documents_;
  SessionStore sessions_;
};

}  // namespace fuselage::serve
