#include "fuselage/serve/session_store.h"

#include <vector>

namespace fuselage::serve {

void SessionStore::publish(std::shared_ptr<Kept> kept) {
  const std::scoped_lock guard(lock_);
  latest_[kept->client] = kept->session.id;
  sessions_[kept->session.id] = std::move(kept);
}

std::shared_ptr<SessionStore::Kept> SessionStore::find(const std::string& id) {
  const std::scoped_lock guard(lock_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  found->second->used = Clock::now();
  return found->second;
}

std::shared_ptr<SessionStore::Kept> SessionStore::latest(const std::string& client) {
  std::string id;
  {
    const std::scoped_lock guard(lock_);
    const auto found = latest_.find(client);
    if (found == latest_.end()) return nullptr;
    id = found->second;
  }
  return find(id);
}

std::shared_ptr<SessionStore::Kept> SessionStore::take(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  std::shared_ptr<Kept> taken = std::move(found->second);
  sessions_.erase(found);
  const auto latest = latest_.find(taken->client);
  if (latest != latest_.end() && latest->second == id) latest_.erase(latest);
  return taken;
}

bool SessionStore::remove(const std::string& id) {
  std::shared_ptr<Kept> gone;  // freed when the lock is
  const std::scoped_lock guard(lock_);
  gone = take(id);
  return gone != nullptr;
}

std::size_t SessionStore::reap(Clock::time_point since) {
  std::vector<std::shared_ptr<Kept>> gone;  // freed when the lock is
  const std::scoped_lock guard(lock_);
  std::vector<std::string> idle;
  for (const auto& [id, kept] : sessions_)
    if (kept->used < since) idle.push_back(id);
  for (const std::string& id : idle) gone.push_back(take(id));
  return gone.size();
}

std::size_t SessionStore::size() const {
  const std::scoped_lock guard(lock_);
  return sessions_.size();
}

}  // namespace fuselage::serve
