// Joining, losing and leaving: no message of a coordinator can do more than end the connection, and
// a worker that comes back waits before each attempt.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/format.h"
#include "common/protocol/messages.h"
#include "common/protocol/versions.h"
#include "worker/tasks/session.h"
#include "worker/tasks/test_world.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

TEST(Session, SaysSomethingWhenTheMachineWakesSoThatADeadConnectionShows) {
  World world;
  world.join();

  world.session.wake();
  world.host.run_for(1s);

  EXPECT_EQ(world.heard<protocol::Beat>().size(), 1U);
}

TEST(SessionConnection, StaysRefusedWhereTryingAgainChangesNothing) {
  for (const ErrorCode code :
       {ErrorCode::unsupported, ErrorCode::unauthenticated, ErrorCode::permission_denied}) {
    World world;
    world.coordinator.refusal =
        protocol::ErrorMessage{.code = std::string(to_string(code)), .message = "No."};
    world.session.start();
    world.host.run_for(600s);

    EXPECT_EQ(world.host.connections, 1);
    ASSERT_EQ(world.seen<event::Refused>().size(), 1U);
    EXPECT_EQ(world.seen<event::Refused>()[0].error, (Error{code, "No."}));
    EXPECT_EQ(world.seen<event::Stopped>().size(), 1U);
    EXPECT_EQ(world.session.state(), SessionState::stopped);
  }
}

TEST(SessionConnection, DoesNotFightAnotherWorkerWithItsWallet) {
  World world;
  world.join();

  world.coordinator.send(protocol::ErrorMessage{.code = "already_exists",
                                                .message = "Another worker replaces this one."});
  world.host.run_for(600s);

  EXPECT_EQ(world.host.connections, 1);
  ASSERT_EQ(world.seen<event::Refused>().size(), 1U);
  EXPECT_EQ(world.seen<event::Refused>()[0].error.message, "Another worker replaces this one.");
}

TEST(SessionConnection, ComesBackWhereItWasRefusedForNow) {
  World world;
  world.coordinator.refusal =
      protocol::ErrorMessage{.code = "resource_exhausted", .message = "Full."};
  world.session.start();
  world.host.run_for(1s);
  world.coordinator.refusal.reset();

  EXPECT_TRUE(world.host.run_until([&] { return world.coordinator.welcomed(); }));
  EXPECT_TRUE(world.seen<event::Refused>().empty());
}

TEST(SessionConnection, RefusesAnotherVersionOfTheProtocol) {
  World world;
  world.coordinator.version = protocol::version + 1;
  world.session.start();
  world.host.run_for(600s);

  ASSERT_EQ(world.seen<event::Refused>().size(), 1U);
  EXPECT_EQ(world.seen<event::Refused>()[0].error.message,
            weft::format(
                "This worker speaks {} of the protocol and the coordinator version {}: update the "
                "worker with `git pull && ./weft work ...`.",
                protocol::range_text(protocol::spoken_versions), protocol::version + 1));
  EXPECT_EQ(world.heard<protocol::ErrorMessage>().size(), 1U);
  EXPECT_EQ(world.host.connections, 1);
}

// Sends the messages that a released coordinator of version 1 sends.
TEST(SessionConnection, TellsThatAnOlderCoordinatorHasToBeUpdated) {
  std::ostringstream released;
  released << std::ifstream(std::filesystem::path(WEFT_SOURCE_DIR) /
                            "src/common/protocol/testdata/v1/coordinator.challenge.json")
                  .rdbuf();
  ASSERT_THAT(released.str(), testing::HasSubstr(R"("v":1)"));
  World world;
  world.coordinator.answers_hello = [&] { world.host.deliver_text(released.str()); };
  world.session.start();
  world.host.run_for(600s);

  ASSERT_EQ(world.seen<event::Refused>().size(), 1U);
  EXPECT_EQ(world.seen<event::Refused>()[0].error.message,
            weft::format("This worker speaks {} of the protocol and the coordinator version 1: its "
                         "operator has to update it with `git pull && ./weft serve ...`.",
                         protocol::range_text(protocol::spoken_versions)));
  EXPECT_EQ(world.host.connections, 1);
}

// A coordinator of an older version refuses frames of a later one. Each side therefore begins in
// the oldest version that the worker speaks, and goes on in the one that the coordinator chose.
TEST(SessionConnection, WritesEveryFrameInTheVersionThatTheCoordinatorChose) {
  for (const std::uint32_t chosen : protocol::version_list()) {
    SCOPED_TRACE(chosen);
    World world;
    world.coordinator.version = chosen;
    world.coordinator.frames = chosen;
    world.join();

    world.coordinator.add_job(world.manifest, 3);
    ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.done(); }));

    ASSERT_GE(world.coordinator.frames_heard.size(), 6U) << "hello, prove, results and a receipt";
    EXPECT_EQ(world.coordinator.frames_heard[0], protocol::spoken_versions.first) << "the hello";
    EXPECT_THAT(std::span(world.coordinator.frames_heard).subspan(1), testing::Each(chosen));
    EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty());

    // After a loss the next coordinator may be another program.
    world.host.drop("lost");
    const std::size_t before = world.coordinator.frames_heard.size();
    ASSERT_TRUE(
        world.host.run_until([&] { return world.coordinator.frames_heard.size() > before; }));
    EXPECT_EQ(world.coordinator.frames_heard[before], protocol::spoken_versions.first);
  }
}

// A relay holds no coordinator's key, or passes on a message that a coordinator signed for another
// name. It gets no proof of the worker's key, and so no welcome and no token.
TEST(SessionConnection, ProvesItsKeyToNoCoordinatorThatHasNotProvedItsOwn) {
  for (const bool wants_proof : {true, false}) {
    for (const bool has_its_key : {true, false}) {
      SCOPED_TRACE(wants_proof);
      FakeHost host;
      FakeRunner runner(host);
      FakeCoordinator relay(host);
      relay.has_its_key = has_its_key;
      relay.host = has_its_key ? "elsewhere:7300" : "there:7300";
      const auto key = std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value());
      Session::Options options;
      options.connection.host = "there:7300";
      options.connection.wants_proof = wants_proof;
      std::vector<Error> refused;
      Session session(host, runner, *key, options, [&](const Event& event) {
        if (const auto* end = std::get_if<event::Refused>(&event)) refused.push_back(end->error);
      });
      session.start();
      host.run_for(60s);

      EXPECT_EQ(relay.welcomed(), !wants_proof) << "without the defence the attack succeeds";
      if (!wants_proof) continue;
      ASSERT_EQ(refused.size(), 1U);
      EXPECT_EQ(refused[0].code, ErrorCode::unauthenticated);
      EXPECT_THAT(refused[0].message, testing::HasSubstr("may be a relay"));
      for (const auto& message : relay.heard)
        EXPECT_FALSE(std::holds_alternative<protocol::Prove>(message));
    }
  }
}

// A relay names a chain other than that of the coordinator that it relays.
TEST(Connection, SignsForTheChainThatTheCoordinatorHasSignedFor) {
  for (const bool changed : {false, true}) {
    World world;
    if (changed) world.coordinator.signs_genesis = Hash{};
    world.session.start();
    world.host.run_for(60s);
    EXPECT_EQ(world.coordinator.welcomed(), !changed);
    EXPECT_EQ(world.heard<protocol::Prove>().size(), changed ? 0U : 1U);
  }
}

TEST(SessionConnection, JoinsOnlyTheCoordinatorThatIsAccepted) {
  World world;
  Session::Options options = world.options;
  std::vector<PublicKey> asked;
  options.connection.accept = [&](const PublicKey& key) -> Result<> {
    asked.push_back(key);
    return fail(ErrorCode::unauthenticated, "Its key has changed.");
  };
  std::vector<Error> refused;
  Session session(world.host, world.runner, world.key, options, [&](const Event& event) {
    if (const auto* end = std::get_if<event::Refused>(&event)) refused.push_back(end->error);
  });
  session.start();
  world.host.run_for(60s);

  EXPECT_EQ(asked.size(), 1U);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].message, "Its key has changed.");
  EXPECT_FALSE(world.coordinator.welcomed());
}

TEST(SessionConnection, EndsTheConnectionAtNonsenseAndComesBackEverMoreRarely) {
  const protocol::CoordinatorMessage challenge = protocol::Challenge{};
  const protocol::CoordinatorMessage welcome = protocol::Welcome{};
  const std::vector<std::string> nonsense = {
      "",
      "{}",
      "hello",
      R"({"type":"dance","v":2})",
      R"({"type":"cancel","v":9,"tasks":[],"reason":""})",
      R"({"type":"cancel","v":2,"tasks":[],"reason":"","more":1})",
      std::string(2'000'000, ' '),
      protocol::encode(challenge),
      protocol::encode(welcome),
      std::string(100, '[')};
  for (const std::string& text : nonsense) {
    World world;
    world.join();
    int joins = 0;
    // The worker gets an invalid message after each join, for ten minutes.
    std::function<void()> pester = [&] {
      if (world.session.state() == SessionState::idle) {
        ++joins;
        world.host.deliver_text(text);
      }
      world.host.after(100ms, pester);
    };
    pester();
    world.host.run_for(600s);

    EXPECT_GE(world.heard<protocol::ErrorMessage>().size(), 1U) << text.substr(0, 40);
    EXPECT_GE(joins, 5) << text.substr(0, 40);
    // The worker does not rejoin every quarter of a second.
    EXPECT_LE(joins, 50) << text.substr(0, 40);
  }
}

TEST(SessionConnection, TakesNoWorkBeforeTheWelcomeAndNoBinaryFrames) {
  World early;
  early.host.on_text = [&](const std::string&) {
    early.host.deliver_text(protocol::encode(protocol::CoordinatorMessage(protocol::Lease{})));
  };
  early.session.start();
  early.host.run_for(1s);
  EXPECT_GE(early.seen<event::Disconnected>().size(), 1U);
  EXPECT_TRUE(early.runner.runs.empty());

  World binary;
  binary.join();
  binary.host.deliver_binary({1, 2, 3});
  binary.host.run_for(10ms);
  EXPECT_EQ(binary.seen<event::Disconnected>().size(), 1U);
  EXPECT_EQ(binary.heard<protocol::ErrorMessage>().size(), 1U);
}

TEST(SessionConnection, GivesUpAGreetingThatTakesTooLong) {
  World world;
  world.host.on_text = [](const std::string&) {};  // The coordinator never answers.
  world.session.start();
  world.host.run_for(9s);
  EXPECT_TRUE(world.seen<event::Disconnected>().empty());
  world.host.run_for(2s);
  EXPECT_EQ(world.seen<event::Disconnected>().size(), 1U);
}

TEST(SessionConnection, WaitsLongerAfterEveryFailureUpToThirtySeconds) {
  World world;
  world.host.reachable = false;
  world.session.start();
  world.host.run_for(1200s);

  const auto losses = world.seen<event::Disconnected>();
  ASSERT_GE(losses.size(), 40U);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const Duration whole = std::min<Duration>(250ms * (1 << std::min<std::size_t>(i, 10)), 30s);
    EXPECT_LE(losses[i].retry, whole) << i;
    EXPECT_GE(losses[i].retry, whole / 2) << i;
  }
  EXPECT_NE(losses[20].retry, losses[21].retry);  // The waits have jitter.
}

TEST(SessionConnection, WakesFromItsBackoffWhenAsked) {
  World world;
  world.host.reachable = false;
  world.session.start();
  world.host.run_for(300s);
  const int before = world.host.connections;
  world.host.reachable = true;

  world.session.wake();
  world.host.run_for(100ms);

  EXPECT_EQ(world.host.connections, before + 1);
  EXPECT_TRUE(world.coordinator.welcomed());
}

TEST(SessionConnection, PausesAndResumesWithoutLeaving) {
  World world;
  world.join();
  world.lease({1, 2});
  ASSERT_TRUE(world.host.run_until([&] { return world.runner.runs.size() == 1; }));
  world.session.pause();
  world.host.run_for(1s);
  EXPECT_EQ(world.session.state(), SessionState::paused);
  EXPECT_EQ(world.coordinator.results, 2);  // The held tasks are finished.
  world.session.resume();
  world.host.run_for(1s);

  const auto slots = world.heard<protocol::Slots>();
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0].slots, 0U);
  EXPECT_EQ(slots[1].slots, 2U);
  EXPECT_EQ(world.host.connections, 1);
}

TEST(SessionConnection, FinishesWhatRunsBeforeItLeaves) {
  World world;
  world.join();
  world.runner.takes = 2s;
  world.lease({1, 2, 3});
  ASSERT_TRUE(world.host.run_until([&] { return world.runner.runs.size() == 1; }));
  world.session.stop("Stopped by its owner.");
  world.host.run_for(10s);

  EXPECT_EQ(world.runner.runs.size(), 1U);
  // The test leased the task by hand, so none is paid.
  EXPECT_EQ(world.coordinator.paid.size(), 0U);
  EXPECT_EQ(world.coordinator.results, 1);
  EXPECT_EQ(world.coordinator.receipts, 1);
  ASSERT_EQ(world.heard<protocol::Bye>().size(), 1U);
  EXPECT_TRUE(std::holds_alternative<protocol::Bye>(world.coordinator.heard.back()));
  EXPECT_EQ(world.seen<event::Stopped>().size(), 1U);
  EXPECT_TRUE(world.host.closed_by_worker);
  EXPECT_EQ(world.host.connections, 1);
}

TEST(SessionConnection, GivesBackWhatTakesTooLongWhenItLeaves) {
  World world;
  world.join();
  world.runner.takes = 1h;
  world.lease({1, 2});
  ASSERT_TRUE(world.host.run_until([&] { return world.runner.runs.size() == 1; }));
  world.session.stop("Stopped by its owner.");
  world.host.run_for(2900ms);
  EXPECT_TRUE(world.seen<event::Stopped>().empty());
  world.host.run_for(200ms);

  EXPECT_EQ(world.seen<event::Stopped>().size(), 1U);
  EXPECT_EQ(world.heard<protocol::Bye>().size(), 1U);
  EXPECT_EQ(world.coordinator.results, 0);
  EXPECT_EQ(world.seen<event::TaskCancelled>().size(), 2U);
}

TEST(SessionConnection, StopsAtOnceWithoutAConnection) {
  World never;
  never.session.stop("x");
  EXPECT_EQ(never.seen<event::Stopped>().size(), 1U);

  World offline;
  offline.join();
  offline.runner.takes = 1h;
  offline.lease({1});
  ASSERT_TRUE(offline.host.run_until([&] { return offline.runner.runs.size() == 1; }));
  offline.host.reachable = false;
  offline.host.drop("lost");
  offline.host.run_for(1s);
  offline.session.stop("x");
  offline.host.run_for(10ms);
  EXPECT_EQ(offline.seen<event::Stopped>().size(), 1U);
  const int connections = offline.host.connections;
  offline.host.run_for(600s);
  EXPECT_EQ(offline.host.connections, connections);
}

}  // namespace
}  // namespace weft::worker
