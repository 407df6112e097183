// A stranger's slow shaders do not delay the checks of other clients.
#include "apps/cli/commands/check_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace weft::cli {
namespace {

Hash name_of(std::uint8_t number) {
  Hash name;
  name.bytes[0] = number;
  return name;
}

// A check that runs until the test releases it.
struct Slow {
  std::promise<void> begun;
  std::promise<void> let_go;
  std::jthread thread;

  Slow(CheckTurns& turns, Hash name, coordinator::ShaderAsker asker) {
    thread = std::jthread([this, &turns, name, asker = std::move(asker)] {
      (void)turns.share(name, asker, [this]() -> Result<> {
        begun.set_value();
        let_go.get_future().wait();
        return {};
      });
    });
    begun.get_future().wait();
  }
  void end() { let_go.set_value(); }
};

ErrorCode outcome(const Result<>& result) {
  return result ? ErrorCode::internal : result.error().code;
}

TEST(CheckTurns, OneWaitsForAClientAndForAnAddress) {
  const auto good = []() -> Result<> { return {}; };
  CheckTurns turns(1);
  Slow slow(turns, name_of(1), {.client = "mallory", .address = "192.0.2.1"});

  EXPECT_EQ(outcome(turns.share(name_of(2), {.client = "mallory", .address = "192.0.2.2"}, good)),
            ErrorCode::resource_exhausted);
  EXPECT_EQ(outcome(turns.share(name_of(2), {.client = "sybil", .address = "192.0.2.1"}, good)),
            ErrorCode::resource_exhausted);
  EXPECT_TRUE(turns.share(name_of(2), {.client = "alice", .address = "192.0.2.3"}, good));
  slow.end();
  slow.thread.join();
  EXPECT_TRUE(turns.share(name_of(2), {.client = "mallory", .address = "192.0.2.1"}, good));

  CheckTurns open(0);
  Slow held(open, name_of(1), {.client = "mallory", .address = "192.0.2.1"});
  EXPECT_TRUE(open.share(name_of(2), {.client = "mallory", .address = "192.0.2.1"}, good))
      << "the attack: any number of them";
  held.end();
}

TEST(CheckTurns, TheSameShaderIsCheckedOnceForAll) {
  CheckTurns turns(1);
  Slow slow(turns, name_of(1), {.client = "alice", .address = "192.0.2.1"});
  std::atomic<int> checked = 0;
  auto same = std::async(std::launch::async, [&] {
    return turns
        .share(name_of(1), {.client = "alice", .address = "192.0.2.1"},
               [&]() -> Result<> {
                 ++checked;
                 return {};
               })
        .has_value();
  });
  while (turns.sharing() == 0) std::this_thread::yield();
  slow.end();

  EXPECT_TRUE(same.get());
  EXPECT_EQ(checked, 0);
}

}  // namespace
}  // namespace weft::cli
