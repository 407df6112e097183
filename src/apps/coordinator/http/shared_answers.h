// Answers that need a copy of the core's whole state (`/v1/workers`, `/v1/ledger`, `/metrics`). At
// most one snapshot is made in each period `every`, and all requests of that period get the next
// snapshot. No client gets a snapshot that is older than its request.
//
// Threading: any; a timer thread starts the snapshots. Lifetime: call stop() before the snapshots'
// sources end. Bounds: waiting_max requests a view; further requests are refused (TooMany).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::coordinator {

// The answer to a request beyond waiting_max.
template <class Answer>
struct TooMany {
  static Answer answer() {
    return fail(ErrorCode::unavailable,
                "The coordinator has too much to do; try again in a moment.");
  }
};

template <class Answer>
class SharedAnswers {
 public:
  struct Options {
    // Least time between snapshots; 0: one snapshot for each request.
    Duration every = std::chrono::milliseconds(250);
    std::size_t waiting_max = 1024;
  };
  using Take = std::function<void(Answer)>;
  // Makes one snapshot and passes it to Take, later and from any thread.
  using Make = std::function<void(Take)>;

  SharedAnswers() : SharedAnswers(Options()) {}
  explicit SharedAnswers(Options options) : options_(options) {}
  SharedAnswers(const SharedAnswers&) = delete;
  ~SharedAnswers() { stop(); }

  // Adds a view that `make` fills. Must be called before start().
  void add(std::string name, Make make) { views_[std::move(name)].make = std::move(make); }
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  void stop() {
    std::vector<Take> left;
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      for (auto& [name, view] : views_) {
        for (auto& take : view.waiting) left.push_back(std::move(take));
        view.waiting.clear();
      }
      changed_.notify_all();
    }
    for (const auto& take : left) take(TooMany<Answer>::answer());
    if (thread_.joinable()) thread_.join();
  }
  // Calls `take` with the next snapshot of the view `name`.
  void get(const std::string& name, Take take) {
    {
      std::unique_lock lock(mutex_);
      View& view = views_.at(name);
      if (!ending_ && view.waiting.size() < options_.waiting_max) {
        view.waiting.push_back(std::move(take));
        const Instant at = now();
        if (options_.every == Duration::zero() ||
            (!view.is_made && at - view.begun >= options_.every))
          return begin(view, at, lock);
        changed_.notify_all();
        return;
      }
    }
    take(TooMany<Answer>::answer());
  }

 private:
  struct View {
    Make make;
    std::vector<Take> waiting;  // Requests that wait for the next snapshot.
    bool is_made = false;       // A snapshot is being made for earlier requests.
    Instant begun{};
  };

  // Starts a snapshot. Releases the lock while it calls `make`.
  void begin(View& view, Instant at, std::unique_lock<std::mutex>& lock) {
    view.is_made = true;
    view.begun = at;
    auto all = std::make_shared<std::vector<Take>>(std::exchange(view.waiting, {}));
    lock.unlock();
    view.make([this, &view, all](const Answer& answer) {
      {
        const std::lock_guard again(mutex_);
        view.is_made = false;
        changed_.notify_all();
      }
      for (const auto& take : *all) take(answer);
    });
    lock.lock();
  }

  void run() {
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

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, View> views_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
