// Calls run on another thread in their order, and their callers resume on their own thread.
#include "worker/serving_child/call_thread.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::worker {
namespace {

// The loop of the caller's thread, which is the test's.
class Loop {
 public:
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    more_.notify_one();
  }
  void run_one() {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return !queue_.empty(); });
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> queue_;
};

Async<> note(CallThread& calls, int number, std::vector<int>& made, std::vector<int>& resumed,
             std::thread::id here) {
  std::thread::id there;
  co_await calls.run([&] {
    there = std::this_thread::get_id();
    made.push_back(number);
  });
  EXPECT_NE(there, here);
  EXPECT_EQ(std::this_thread::get_id(), here);
  resumed.push_back(number);
}

TEST(CallThread, MakesCallsInTheirOrderAndResumesTheCaller) {
  Loop loop;
  CallThread calls([&](std::function<void()> work) { loop.post(std::move(work)); });
  std::vector<int> made, resumed;
  for (int i = 0; i < 3; ++i) start(note(calls, i, made, resumed, std::this_thread::get_id()));
  for (int i = 0; i < 3; ++i) loop.run_one();
  EXPECT_EQ(made, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(resumed, made);
}

TEST(CallThread, LeavesTheCallerFreeMeanwhile) {
  Loop loop;
  CallThread calls([&](std::function<void()> work) { loop.post(std::move(work)); });
  std::mutex gate;
  std::unique_lock shut(gate);
  bool resumed = false;
  auto wait = [](CallThread& thread, std::mutex& closed, bool& over) -> Async<> {
    co_await thread.run([&] { const std::lock_guard pass(closed); });
    over = true;
  };
  start(wait(calls, gate, resumed));
  EXPECT_FALSE(resumed);  // start() has returned, although the call is blocked.
  shut.unlock();
  loop.run_one();
  EXPECT_TRUE(resumed);
}

TEST(CallThread, WaitsForTheCallThatIsBeingMadeWhenItEnds) {
  bool done = false;
  {
    CallThread calls([](const std::function<void()>&) {});
    std::mutex gate;
    std::condition_variable begun;
    bool begins = false;
    auto work = [](CallThread& thread, std::function<void()> call) -> Async<> {
      co_await thread.run(std::move(call));
    };
    start(work(calls, [&] {
      {
        const std::lock_guard lock(gate);
        begins = true;
      }
      begun.notify_one();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    }));
    std::unique_lock lock(gate);
    begun.wait(lock, [&] { return begins; });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace weft::worker
