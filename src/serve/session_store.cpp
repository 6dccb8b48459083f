#include "fuselage/serve/session_store.h"

#include <vector>

namespace fuselage::serve {

std::shared_ptr<SessionStore::Kept> SessionStore::add(Session session, const std::string& client) {
  auto kept = std::make_shared<Kept>(std::move(session), client);
  const std::scoped_lock guard(lock_);
  sessions_[kept->session.id] = kept;
  latest_[client] = kept->session.id;
  return kept;
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

bool SessionStore::remove(const std::string& id) {
  std::shared_ptr<Kept> gone;  // freed when the lock is
  const std::scoped_lock guard(lock_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  gone = std::move(found->second);
  sessions_.erase(found);
  const auto latest = latest_.find(gone->client);
  if (latest != latest_.end() && latest->second == id) latest_.erase(latest);
  return true;
}

std::size_t SessionStore::reap(Clock::time_point since) {
  std::vector<std::string> idle;
  {
    const std::scoped_lock guard(lock_);
    for (const auto& [id, kept] : sessions_)
      if (kept->used < since) idle.push_back(id);
  }
  std::size_t freed = 0;
  for (const std::string& id : idle) freed += remove(id);
  return freed;
}

std::size_t SessionStore::size() const {
  const std::scoped_lock guard(lock_);
  return sessions_.size();
}

}  // namespace fuselage::serve
