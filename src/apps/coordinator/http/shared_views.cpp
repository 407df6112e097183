#include "apps/coordinator/http/shared_views.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace weft::coordinator {
namespace {

net::Reply too_many() {
  return net::problem(
      {ErrorCode::unavailable, "The coordinator has too much to do; try again in a moment."});
}

}  // namespace

void SharedViews::start() {
  thread_ = std::thread([this] { run(); });
}

void SharedViews::stop() {
  std::vector<net::Respond> left;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (auto& [name, view] : views_) {
      for (auto& respond : view.waiting) left.push_back(std::move(respond));
      view.waiting.clear();
    }
    changed_.notify_all();
  }
  for (const auto& respond : left) respond(too_many());
  if (thread_.joinable()) thread_.join();
}

void SharedViews::get(const std::string& name, net::Respond respond) {
  {
    std::unique_lock lock(mutex_);
    View& view = views_.at(name);
    if (!ending_ && view.waiting.size() < options_.waiting_max) {
      view.waiting.push_back(std::move(respond));
      const Instant at = now();
      if (options_.every == Duration::zero() ||
          (!view.is_made && at - view.begun >= options_.every))
        return begin(view, at, lock);
      changed_.notify_all();
      return;
    }
  }
  respond(too_many());
}

// The lock is let go while the snapshot is asked for.
void SharedViews::begin(View& view, Instant at, std::unique_lock<std::mutex>& lock) {
  view.is_made = true;
  view.begun = at;
  auto all = std::make_shared<std::vector<net::Respond>>(std::exchange(view.waiting, {}));
  lock.unlock();
  view.make([this, &view, all](const net::Reply& reply) {
    {
      const std::lock_guard again(mutex_);
      view.is_made = false;
      changed_.notify_all();
    }
    for (const auto& respond : *all) respond(reply);
  });
  lock.lock();
}

void SharedViews::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const Instant at = now();
    Instant next = Instant::max();
    View* due = nullptr;
    for (auto& [name, view] : views_) {
      if (view.waiting.empty() || view.is_made) continue;
      if (at - view.begun >= options_.every) {
        due = &view;
        break;
      }
      next = std::min(next, view.begun + options_.every);
    }
    if (due != nullptr) {
      begin(*due, at, lock);
    } else if (next == Instant::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, next);
    }
  }
}

}  // namespace weft::coordinator
