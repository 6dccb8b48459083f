// Sessions that live from one HTTP request to the next, by their ids. A session is used by one request at a
// time; it goes when its episode is done, when a client closes it, or when nobody has used it for a while.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "fuselage/serve/session.h"

namespace fuselage::serve {

class SessionStore {
 public:
  using Clock = std::chrono::steady_clock;

  struct Kept {
    explicit Kept(Session s, std::string of) : session(std::move(s)), client(std::move(of)) {}
    std::mutex lock;  // held by the request that uses it
    Session session;
    std::string client;
    Clock::time_point used = Clock::now();
  };

  // From now on others find it; it also becomes its client's latest.
  void publish(std::shared_ptr<Kept> kept);
  // Null if there is none.
  std::shared_ptr<Kept> find(const std::string& id);
  // The latest that the client began, for requests that name none; null if there is none.
  std::shared_ptr<Kept> latest(const std::string& client);
  bool remove(const std::string& id);
  // Frees what nobody has used since then; how many.
  std::size_t reap(Clock::time_point since);
  std::size_t size() const;

 private:
  std::shared_ptr<Kept> take(const std::string& id);  // lock_ is held

  mutable std::mutex lock_;
  std::unordered_map<std::string, std::shared_ptr<Kept>> sessions_;
  std::unordered_map<std::string, std::string> latest_;  // ids by client
};

}  // namespace fuselage::serve
