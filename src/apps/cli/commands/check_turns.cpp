#include "apps/cli/commands/check_turns.h"

namespace weft::cli {

// enter() and leave() must be called with the lock held.
bool CheckTurns::enter(const std::string& who) {
  std::size_t& count = waiting_[who];
  if (per_asker_ > 0 && count >= per_asker_) return false;
  ++count;
  return true;
}

void CheckTurns::leave(const std::string& who) {
  const auto found = waiting_.find(who);
  if (--found->second == 0) waiting_.erase(found);
}

Result<> CheckTurns::share(const Hash& name, const coordinator::ShaderAsker& asker,
                           const std::function<Result<>()>& check) {
  const std::string client = "client " + asker.client;
  const std::string address = "address " + asker.address;
  std::unique_lock lock(mutex_);
  if (const auto same = checks_.find(name); same != checks_.end()) {
    const std::shared_ptr<Check> shared = same->second;
    ++sharing_;
    changed_.wait(lock, [&] { return shared->done; });
    --sharing_;
    return shared->result;
  }
  const auto refused = [] {
    return fail(ErrorCode::resource_exhausted,
                "Another shader of this client or address waits to be checked; try again in a "
                "moment.");
  };
  if (!enter(client)) return refused();
  if (!enter(address)) {
    leave(client);
    return refused();
  }
  const auto own = std::make_shared<Check>();
  checks_.emplace(name, own);
  lock.unlock();
  Result<> result = check();
  lock.lock();
  own->result = result;
  own->done = true;
  checks_.erase(name);
  leave(client);
  leave(address);
  changed_.notify_all();
  return result;
}

}  // namespace weft::cli
