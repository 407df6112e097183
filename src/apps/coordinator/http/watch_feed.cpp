#include "apps/coordinator/http/watch_feed.h"

#include <algorithm>
#include <optional>

#include "decisions/jobs/job_watch.h"
#include "platform/net/address.h"

namespace weft::coordinator {

namespace {
namespace watch = protocol::watch;
}

net::SocketRoute WatchFeed::route() {
  return {
      .path = "/v1/watch",
      .message_bytes_max = watch::seen_bytes_max,
      .opened = [this](const std::shared_ptr<net::Peer>& peer) { open(peer); },
      .text = [this](const std::shared_ptr<net::Peer>& peer,
                     const std::string& text) { take(peer, text); },
      .binary = [](const std::shared_ptr<net::Peer>& peer,
                   const std::string&) { peer->close("A watcher may send only text messages."); },
      .oversized = [](const std::shared_ptr<net::Peer>& peer,
                      std::size_t) { peer->close("The message is too long."); },
      .closed = [this](const std::shared_ptr<net::Peer>& peer) { close(peer); },
      .cost = 1};
}

void WatchFeed::start() {
  thread_ = std::thread([this] { run(); });
}

void WatchFeed::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    watchers_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

// The caller holds the lock.
bool WatchFeed::has_room_for(const std::string& group) const {
  if (watchers_.size() >= options_.watchers_max) return false;
  const auto same =
      std::ranges::count_if(watchers_, [&](const auto& one) { return one.second.group == group; });
  return options_.watchers_per_address == 0 ||
         static_cast<std::size_t>(same) < options_.watchers_per_address;
}

void WatchFeed::open(const std::shared_ptr<net::Peer>& peer) {
  {
    const std::string group = net::address_group(peer->address());
    const std::lock_guard lock(mutex_);
    if (!ending_ && has_room_for(group)) {
      watchers_.emplace(peer->id(), Watcher{.peer = peer, .group = group});
      changed_.notify_all();
      return;
    }
  }
  peer->close("Too many watchers are connected already; try again later.");
}

void WatchFeed::take(const std::shared_ptr<net::Peer>& peer, const std::string& text) {
  const auto seen = watch::decode_seen(text);
  if (!seen) return peer->close(seen.error().message);
  {
    const std::lock_guard lock(mutex_);
    const auto found = watchers_.find(peer->id());
    if (found == watchers_.end()) return;
    Watcher& watcher = found->second;
    if (seen->sequence <= watcher.sent) {
      if (watcher.unseen > 0) --watcher.unseen;
      if (seen->sequence == watcher.sent) watcher.unseen = 0;
      return;
    }
  }
  peer->close("The watcher says that it has seen a message that was not sent.");
}

void WatchFeed::close(const std::shared_ptr<net::Peer>& peer) {
  const std::lock_guard lock(mutex_);
  watchers_.erase(peer->id());
}

void WatchFeed::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait(lock, [this] { return ending_ || !watchers_.empty(); });
    while (!ending_ && !watchers_.empty()) {
      ask();
      changed_.wait_for(lock, options_.every, [this] { return ending_; });
    }
    (void)loop_.post([](jobs::Core& core, jobs::Moment) { core.watch().stop(); });
  }
}

// The caller holds the lock.
void WatchFeed::ask() {
  if (asking_) return;
  const bool a_watcher_is_new = std::ranges::any_of(watchers_, [](const auto& one) {
    return one.second.wants_snapshot && one.second.unseen == 0;
  });
  const auto wanted = a_watcher_is_new ? jobs::WatchWanted::snapshot_too : jobs::WatchWanted::delta;
  asking_ = loop_.post([this, wanted](jobs::Core& core, jobs::Moment now) {
    core.watch().watch(wanted, now,
                       [this](const Result<jobs::WatchUpdate>& update) { tell(*update); });
  });
}

void WatchFeed::tell(const jobs::WatchUpdate& update) {
  const std::string delta = update.delta.empty() ? std::string() : watch::encode(update.delta);
  const std::string snapshot = update.snapshot ? watch::encode(*update.snapshot) : std::string();
  const std::uint64_t sequence = update.delta.sequence;
  const std::lock_guard lock(mutex_);
  asking_ = false;
  for (auto& [id, watcher] : watchers_) {
    const auto send = [&](const std::string& text) {
      watcher.peer->send_text(text);
      watcher.sent = sequence;
      ++watcher.unseen;
    };
    if (watcher.wants_snapshot) {
      // A slow client must first acknowledge all messages, so that little is under way to it.
      if (snapshot.empty() || watcher.unseen > 0) continue;
      watcher.wants_snapshot = false;
      send(snapshot);
    } else if (!delta.empty()) {
      if (watcher.unseen >= watch::unseen_max) {
        watcher.wants_snapshot = true;
      } else {
        send(delta);
      }
    }
  }
}

}  // namespace weft::coordinator
