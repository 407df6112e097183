// A worker's connection is reopened after a loss, and no event of an earlier connection follows.
#include "worker/inference/serve_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/inference/test_machine.h"

namespace weft::worker {
namespace {

namespace wire = protocol::serving;
using namespace std::chrono_literals;

struct ServeConnectionTest : testing::Test {
  ServeConnectionTest() {
    connection->listen({.opened = [this] { ++opened; },
                        .message = [this](const auto&) { ++messages; },
                        .frame = [this](const auto&) { ++frames; },
                        .closed = [this] { ++closed; }});
    connection->join("token");
    time.run_for(10ms);
  }

  SimulatedTime time;
  SimulatedMachine machine{time};
  std::shared_ptr<ServeConnection> connection = std::make_shared<ServeConnection>(machine, 500ms);
  int opened = 0, messages = 0, frames = 0, closed = 0;
};

TEST_F(ServeConnectionTest, CarriesMessagesBothWays) {
  EXPECT_TRUE(connection->is_open());
  EXPECT_EQ(connection->token(), "token");

  machine.deliver(wire::Serving{.pulse_ms = 500});
  machine.deliver(ByteVector{1, 2, 3});
  connection->tell(wire::Pulse{.running = 7});
  time.run_for(10ms);

  EXPECT_EQ(messages, 1);
  EXPECT_EQ(frames, 1);
  ASSERT_EQ(machine.all<wire::Pulse>().size(), 1U);
  EXPECT_EQ(machine.all<wire::Pulse>()[0].running, 7U);
}

TEST_F(ServeConnectionTest, ComesBackAfterALossUnderAnotherNumber) {
  const std::uint64_t before = connection->number();
  machine.cut();
  time.run_for(100ms);
  EXPECT_EQ(closed, 1);
  EXPECT_FALSE(connection->is_open());
  connection->tell(wire::Pulse{});

  time.run_for(1s);

  EXPECT_TRUE(connection->is_open());
  EXPECT_EQ(opened, 2);
  EXPECT_NE(connection->number(), before);
  EXPECT_TRUE(machine.all<wire::Pulse>().empty()) << "what was said meanwhile is dropped";
}

TEST_F(ServeConnectionTest, StaysAwayAfterItLeft) {
  machine.deliver(wire::Serving{.pulse_ms = 500});
  connection->leave();
  time.run_for(10s);

  EXPECT_EQ(messages, 0);
  EXPECT_EQ(closed, 0);
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(connection->token(), "");
}

TEST_F(ServeConnectionTest, DoesNotComeBackIfItLeavesWhileItWaits) {
  machine.cut();
  time.run_for(100ms);
  connection->leave();
  time.run_for(10s);

  EXPECT_EQ(opened, 1);
}

}  // namespace
}  // namespace weft::worker
