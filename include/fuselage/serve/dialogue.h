// The messages of one WebSocket and their replies. The dialect follows from the first message: one with a
// `data` object is OpenEnv's, any other the environment's own. Beside the dialects' own messages:
//
//   steps   several actions in one message (`commands`, or `actions` in data; `observations: true` for the
//           text after each one)
//   clone   another session that goes on from where this one is; its number is in the reply, and messages
//   with
//           `session: N` are about it. `close` with a number frees it
//   hint    optimal answers and the value of every answer, if the server gives hints
//   mcp     OpenEnv's: a JSON-RPC request in data
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/serve/hub.h"
#include "fuselage/serve/session.h"

namespace fuselage::serve {

class Dialogue {
 public:
  Dialogue(Hub& hub, std::string client, std::optional<Dialect> dialect = std::nullopt)
      : hub_(hub), client_(std::move(client)), dialect_(dialect) {}

  // Appends the reply; false: the client says goodbye, and there is none.
  bool answer(std::string_view message, std::string& reply);

 private:
  struct Refused;

  bool answer_message(std::string_view message, std::string& reply);
  Session& begin_session(const JsonField& fields, std::size_t number);
  void reset(const JsonField& fields, std::size_t number, std::string& reply);
  void step(const JsonField& fields, Session& session, std::string& reply);
  void steps(const JsonField& fields, Session& session, std::string& reply);
  void state(const Session& session, std::string& reply);
  void clone(const Session& session, std::string& reply);
  void hint(Session& session, std::string& reply);
  void append_error(std::string& reply, std::string_view code, std::string_view message) const;
  // "{"type":"step_result"," or "{"type":"observation","data":{"
  void begin(std::string& reply, std::string_view own, std::string_view openenv) const;
  void end(std::string& reply) const;
  std::size_t number_of(const JsonField& message) const;
  Session& session_of(const JsonField& message);
  Session& session_at(std::size_t number);
  Slot take_slot();

  Hub& hub_;
  std::string client_;
  std::optional<Dialect> dialect_;
  std::map<std::size_t, std::unique_ptr<Session>> sessions_;  // by number; 0 is the connection's own
  std::size_t next_ = 1;
};

}  // namespace fuselage::serve
