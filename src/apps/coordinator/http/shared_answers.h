// Answers that cost the core a copy of everything it has (`/v1/workers`, `/v1/ledger`, `/metrics`):
// one snapshot in `every` is made, and all who ask meanwhile get the next one. A client sees
// nothing older than its question.
//
// Threading: any; a thread of its own keeps the time. Lifetime: stop() before what the snapshots
// are made of goes. Bounds: waiting_max questions a view; further ones are refused
// (TooMany).
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

// The answer to a question too many.
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
    Duration every = std::chrono::milliseconds(250);  // 0: a snapshot for each question.
    std::size_t waiting_max = 1024;
  };
  using Take = std::function<void(Answer)>;
  // Makes one answer and passes it on, later and from any thread.
  using Make = std::function<void(Take)>;

  SharedAnswers() : SharedAnswers(Options()) {}
  explicit SharedAnswers(Options options) : options_(options) {}
  SharedAnswers(const SharedAnswers&) = delete;
  ~SharedAnswers() { stop(); }

  // Before start().
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
  // Answers with the next snapshot of the view.
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
    std::vector<Take> waiting;  // For a snapshot that has not begun.
    bool is_made = false;       // One is being made, for others.
    Instant begun{};
  };

  // The lock is let go while the snapshot is asked for.
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
