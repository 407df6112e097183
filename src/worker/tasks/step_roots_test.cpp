// A task whose lease asks for roots of steps commits to the state after each group of its steps.
// The worker shows these states until the verdict. It computes no state again, and keeps no more
// states than it has room for.
#include <memory>
#include <string>
#include <vector>

#include "common/proof/task_state.h"
#include "common/protocol/messages.h"
#include "worker/tasks/session.h"
#include "worker/tasks/test_coordinator.h"
#include "worker/tasks/test_steps.h"
#include "worker/tasks/test_world.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

struct StepWorld {
  explicit StepWorld(const std::string& text = steps_manifest(8), Session::Options options = {})
      : manifest(host.add_blob({text.begin(), text.end()})),
        session(host, runner, key, std::move(options),
                [this](const Event& event) { events.push_back(event); }) {
    coordinator.answer_verdicts = false;
    coordinator.cancels_settled = false;
    session.start();
    EXPECT_TRUE(host.run_until([&] { return coordinator.welcomed(); }));
  }
  protocol::Lease lease(std::uint8_t number, bool roots = true) const {
    protocol::Lease made{.manifest = manifest, .wall_ms_max = 30'000};
    made.job.bytes[0] = number;
    made.tasks = {{.index = 0, .attempt = 1, .first = 0, .count = 1, .step_roots = roots}};
    return made;
  }
  static TaskId task(std::uint8_t number) {
    TaskId id;
    id.job.bytes[0] = number;
    return id;
  }
  // Computes a task, and returns its result.
  protocol::TaskResult result_of(const protocol::Lease& lease) {
    coordinator.send(lease);
    const std::size_t before = coordinator.delivered.size();
    EXPECT_TRUE(host.run_until([&] { return coordinator.delivered.size() > before; }));
    return coordinator.delivered.back();
  }
  [[nodiscard]] std::vector<protocol::States> answers() const {
    std::vector<protocol::States> found;
    for (const auto& message : coordinator.heard) {
      if (const auto* one = std::get_if<protocol::States>(&message)) found.push_back(*one);
    }
    return found;
  }
  protocol::States ask(std::uint8_t number, const std::vector<std::uint32_t>& groups) {
    const std::size_t before = answers().size();
    coordinator.send(protocol::OpenStates{.task = task(number), .attempt = 1, .groups = groups});
    EXPECT_TRUE(host.run_until([&] { return answers().size() > before; }));
    return answers().empty() ? protocol::States() : answers().back();
  }
  // For each state of the answer: true if the worker has it.
  static std::vector<bool> has(const protocol::States& answer) {
    std::vector<bool> out;
    for (const auto& state : answer.states) out.push_back(state.bytes > 0);
    return out;
  }
  void verdict(std::uint8_t number) {
    coordinator.send(protocol::Verdict{.task = task(number), .attempt = 1, .accepted = true});
    host.run_for(1s);
  }

  FakeHost host;
  StepRunner runner{host};
  FakeCoordinator coordinator{host};
  crypto::KeyPair key = crypto::KeyPair::generate().value();
  Hash manifest;
  std::vector<Event> events;
  Session session;
};

Session::Options with_room(std::uint64_t states) {
  Session::Options options;
  options.work.step_state_bytes_max = states * state_bytes;
  return options;
}

TEST(StepRoots, AreThoseOfEachPrefixOfTheSteps) {
  StepWorld world;

  const protocol::TaskResult result = world.result_of(world.lease(1));

  ASSERT_EQ(result.step_roots.size(), 7U);
  for (std::uint32_t steps = 1; steps < 8; ++steps)
    EXPECT_EQ(result.step_roots[steps - 1], root_after(steps)) << steps;
  EXPECT_EQ(result.root, root_after(8));
  EXPECT_EQ(world.runner.runs.size(), 8U) << "a state is read after each step";
}

TEST(StepRoots, AreOfGroupsOfStepsBeyond32) {
  StepWorld world(steps_manifest(40));

  const protocol::TaskResult result = world.result_of(world.lease(1));

  ASSERT_EQ(result.step_roots.size(), 31U);
  EXPECT_EQ(result.step_roots[7], root_after(16));
  EXPECT_EQ(result.step_roots[30], root_after(39));
  EXPECT_EQ(result.root, root_after(40));
  EXPECT_EQ(world.runner.runs.size(), 32U) << "no run goes beyond a group";
}

TEST(StepRoots, AreTheSameInShorterRuns) {
  StepWorld world(steps_manifest(64));
  protocol::Lease lease = world.lease(1);
  lease.checkpoint_ms = 1;  // With this interval the device's runs are shorter than a group.
  world.runner.takes = 50ms;

  const protocol::TaskResult result = world.result_of(lease);

  EXPECT_GT(world.runner.runs.size(), 32U);
  ASSERT_EQ(result.step_roots.size(), 31U);
  for (std::uint32_t group = 1; group < 32; ++group)
    EXPECT_EQ(result.step_roots[group - 1], root_after(2 * group)) << group;
}

TEST(StepRoots, AreNotSentWithoutARequest) {
  StepWorld world;

  const protocol::TaskResult result = world.result_of(world.lease(1, false));

  EXPECT_TRUE(result.step_roots.empty());
  EXPECT_EQ(result.root, root_after(8));
  EXPECT_EQ(world.runner.runs.size(), 1U) << "nothing is read between the steps";
  EXPECT_EQ(StepWorld::has(world.ask(1, {1})), std::vector{false});
}

TEST(StepRoots, AreNotSentForJobsWithoutGroups) {
  StepWorld world(steps_manifest(8, R"(,"verify":{"compare":{"absolute":0.5}})"));

  EXPECT_TRUE(world.result_of(world.lease(1)).step_roots.empty());
  EXPECT_EQ(world.runner.runs.size(), 1U);
}

TEST(StepRoots, AreNotSentForAPartOfATask) {
  StepWorld world(steps_manifest(8, "", 4));
  protocol::Lease lease = world.lease(1);
  lease.tasks[0].count = 2;
  EXPECT_TRUE(world.result_of(lease).step_roots.empty());
  lease = world.lease(2);
  lease.tasks[0].count = 4;
  EXPECT_EQ(world.result_of(lease).step_roots.size(), 7U);
}

// The worker does not have the states before the checkpoint.
TEST(StepRoots, AreNotSentForATaskThatContinuesFromACheckpoint) {
  StepWorld world;
  protocol::Lease lease = world.lease(1);
  const ByteVector checkpoint = proof::encode_state({.id = StepWorld::task(1),
                                                     .manifest = world.manifest,
                                                     .first = 0,
                                                     .count = 1,
                                                     .unit = proof::StatedTask::Unit::steps,
                                                     .of = 8},
                                                    3, run_steps({}, 0, 3));
  lease.resume = {
      {.index = 0, .blob = world.host.add_blob(checkpoint), .bytes = checkpoint.size(), .done = 3}};

  const protocol::TaskResult result = world.result_of(lease);

  EXPECT_TRUE(result.step_roots.empty());
  EXPECT_EQ(result.root, root_after(8));
  EXPECT_DOUBLE_EQ(result.resumed, 3.0 / 8);
  EXPECT_EQ(StepWorld::has(world.ask(1, {4})), std::vector{false});
}

TEST(StepRoots, AreSentIfTheCheckpointCannotBeUsed) {
  StepWorld world;
  protocol::Lease lease = world.lease(1);
  const ByteVector nonsense(30, 1);
  lease.resume = {{.index = 0, .blob = world.host.add_blob(nonsense), .bytes = 30, .done = 3}};

  EXPECT_EQ(world.result_of(lease).step_roots.size(), 7U);
}

TEST(StepRoots, AreNotSentForATaskThatOnlyRunsWhole) {
  StepWorld world(steps_manifest(8), with_room(7));
  world.runner.refuses_parts = true;

  const protocol::TaskResult result = world.result_of(world.lease(1));

  EXPECT_TRUE(result.step_roots.empty());
  EXPECT_EQ(result.root, root_after(8));
  EXPECT_EQ(StepWorld::has(world.ask(1, {1})), std::vector{false});

  world.runner.refuses_parts = false;
  world.result_of(world.lease(2));
  EXPECT_EQ(StepWorld::has(world.ask(2, {7})), std::vector{true}) << "its room was given back";
}

TEST(States, AreStoredAndHaveTheirRoots) {
  StepWorld world;
  const protocol::TaskResult result = world.result_of(world.lease(1));

  const protocol::States answer = world.ask(1, {5, 1, 7});

  EXPECT_EQ(answer.task, StepWorld::task(1));
  EXPECT_EQ(answer.attempt, 1U);
  ASSERT_EQ(StepWorld::has(answer), (std::vector{true, true, true}));
  const std::size_t runs = world.runner.runs.size();
  for (const std::size_t i : {0U, 1U, 2U}) {
    const std::uint32_t group = std::vector<std::uint32_t>{5, 1, 7}[i];
    EXPECT_EQ(answer.states[i].group, group);
    const auto blob = world.host.blobs.find(answer.states[i].blob);
    ASSERT_NE(blob, world.host.blobs.end());
    EXPECT_EQ(answer.states[i].bytes, blob->second.size());
    const auto state = proof::decode_state(blob->second);
    ASSERT_TRUE(state.has_value()) << state.error().message;
    EXPECT_EQ(state->task.id, StepWorld::task(1));
    EXPECT_EQ(state->task.manifest, world.manifest);
    EXPECT_EQ(state->done, group);
    std::vector<ByteVector> outputs;
    for (const ByteSpan output : state->outputs) outputs.emplace_back(output.begin(), output.end());
    EXPECT_EQ(proof::task_root(outputs), result.step_roots[group - 1]);
  }
  EXPECT_EQ(world.runner.runs.size(), runs) << "no state is computed again";
}

TEST(States, OfGroupsThatDoNotExistAreAnsweredWithNone) {
  StepWorld world;
  world.result_of(world.lease(1));

  const protocol::States answer = world.ask(1, {0, 3, 8, 31});

  EXPECT_EQ(StepWorld::has(answer), (std::vector{false, true, false, false}));
  EXPECT_EQ(answer.states[3].group, 31U);
}

// A worker that was restarted does not know its earlier results.
TEST(States, OfAnUnknownResultAreAnsweredWithNone) {
  StepWorld world;

  EXPECT_EQ(StepWorld::has(world.ask(9, {1, 2})), (std::vector{false, false}));
}

TEST(States, AreKeptAsFarAsThereIsRoomForThoseOfAllResults) {
  StepWorld world(steps_manifest(8), with_room(9));
  EXPECT_EQ(world.result_of(world.lease(1)).step_roots.size(), 7U);
  EXPECT_EQ(world.result_of(world.lease(2)).step_roots.size(), 7U);

  EXPECT_EQ(StepWorld::has(world.ask(1, {1, 7})), (std::vector{true, true}));
  EXPECT_EQ(StepWorld::has(world.ask(2, {1, 2, 3, 7})), (std::vector{true, true, false, false}));

  world.verdict(1);
  world.result_of(world.lease(3));
  EXPECT_EQ(StepWorld::has(world.ask(3, {1, 7})), (std::vector{true, true}))
      << "a verdict frees the room";
  EXPECT_EQ(StepWorld::has(world.ask(2, {3})), (std::vector{false}));
}

TEST(States, AreKeptOverAReconnect) {
  StepWorld world;
  world.result_of(world.lease(1));

  world.host.drop("lost");
  ASSERT_TRUE(world.host.run_until([&] { return !world.coordinator.welcomed(); }));
  ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.welcomed(); }));

  EXPECT_EQ(StepWorld::has(world.ask(1, {4})), std::vector{true});
}

// The coordinator was started again as version 7, which refuses messages and fields that it does
// not know.
TEST(States, AndRootsAreNotSentToACoordinatorOfAnOlderVersion) {
  StepWorld world;
  ASSERT_EQ(world.result_of(world.lease(1)).step_roots.size(), 7U);
  world.host.blobs_reachable = false;
  world.coordinator.send(
      protocol::OpenStates{.task = StepWorld::task(1), .attempt = 1, .groups = {4}});
  world.host.run_for(10ms);
  world.host.drop("lost");
  world.coordinator.version = 7;
  world.coordinator.frames = 7;
  world.host.blobs_reachable = true;
  const std::size_t before = world.coordinator.delivered.size();

  ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.delivered.size() > before; }));
  world.host.run_for(10s);

  EXPECT_TRUE(world.coordinator.delivered.back().step_roots.empty());
  EXPECT_EQ(world.coordinator.delivered.back().root, root_after(8));
  EXPECT_TRUE(world.answers().empty());
  EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty());
}

TEST(States, ThatAreStoredWhileTheConnectionIsLostAreNamedOverTheNextOne) {
  StepWorld world;
  world.result_of(world.lease(1));
  world.host.blobs_reachable = false;
  world.coordinator.send(
      protocol::OpenStates{.task = StepWorld::task(1), .attempt = 1, .groups = {4}});
  world.host.run_for(10ms);
  world.host.drop("lost");
  world.host.reachable = false;
  world.host.run_for(20s);  // All attempts over a connection would take less time.
  ASSERT_TRUE(world.answers().empty());

  world.host.blobs_reachable = true;
  world.host.run_for(10s);
  ASSERT_TRUE(world.answers().empty()) << "there is no connection";
  world.host.reachable = true;

  ASSERT_TRUE(world.host.run_until([&] { return !world.answers().empty(); }));
  EXPECT_EQ(StepWorld::has(world.answers()[0]), std::vector{true});
  world.host.run_for(60s);
  EXPECT_EQ(world.answers().size(), 1U) << "an answer is sent once";
}

// The coordinator asks again over each connection until it has an answer.
TEST(States, AreShownOverManyRandomLosses) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    StepWorld world;
    const protocol::TaskResult result = world.result_of(world.lease(1));
    std::mt19937 random(seed);
    int losses = 0;
    world.coordinator.on_traffic = [&] {
      if (losses < 30 && random() % 4 == 0) {
        ++losses;
        world.host.blobs_reachable = random() % 2 == 0;
        world.host.after(std::chrono::milliseconds(random() % 3000),
                         [&] { world.host.blobs_reachable = true; });
        world.host.drop("lost");
      }
    };

    for (int round = 0; round < 200 && world.answers().empty(); ++round) {
      world.coordinator.send(
          protocol::OpenStates{.task = StepWorld::task(1), .attempt = 1, .groups = {2, 6}});
      world.host.run_for(3s);
    }

    ASSERT_FALSE(world.answers().empty());
    const protocol::States answer = world.answers().front();
    ASSERT_EQ(StepWorld::has(answer), (std::vector{true, true}));
    for (const auto& each : answer.states) {
      const auto state = proof::decode_state(world.host.blobs.at(each.blob));
      ASSERT_TRUE(state.has_value());
      std::vector<ByteVector> outputs;
      for (const ByteSpan output : state->outputs)
        outputs.emplace_back(output.begin(), output.end());
      EXPECT_EQ(proof::task_root(outputs), result.step_roots[each.group - 1]);
    }
    EXPECT_EQ(world.runner.runs.size(), 8U);
    EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty());
  }
}

TEST(States, ThatCannotBeStoredAreAnsweredWithNone) {
  StepWorld world;
  world.result_of(world.lease(1));
  world.host.blobs_reachable = false;

  EXPECT_EQ(StepWorld::has(world.ask(1, {4, 5})), (std::vector{false, false}));

  world.host.blobs_reachable = true;
  EXPECT_EQ(StepWorld::has(world.ask(1, {4, 5})), (std::vector{true, true}))
      << "a later request is answered";
}

TEST(States, AreForgottenWithTheVerdict) {
  StepWorld world;
  world.result_of(world.lease(1));

  world.verdict(1);

  EXPECT_EQ(StepWorld::has(world.ask(1, {4})), std::vector{false});
}

TEST(States, AreForgottenIfTheTaskIsCancelled) {
  StepWorld world(steps_manifest(8), with_room(7));
  world.result_of(world.lease(1));
  world.coordinator.send(
      protocol::Cancel{.tasks = {{.task = StepWorld::task(1), .attempt = 1}}, .reason = "Done."});
  EXPECT_EQ(StepWorld::has(world.ask(1, {4})), std::vector{false});

  // The states of a task that still runs are forgotten, too.
  world.runner.takes = 1s;
  world.coordinator.send(world.lease(2));
  world.host.run_for(5s);
  world.coordinator.send(
      protocol::Cancel{.tasks = {{.task = StepWorld::task(2), .attempt = 1}}, .reason = "Done."});
  world.host.run_for(2s);
  world.runner.takes = 10ms;
  world.result_of(world.lease(3));
  EXPECT_EQ(StepWorld::has(world.ask(3, {1, 7})), (std::vector{true, true}));
}

TEST(States, AreForgottenIfAnotherCoordinatorIsThere) {
  StepWorld world;
  world.result_of(world.lease(1));

  world.coordinator.take_key(7);
  world.host.drop("lost");
  ASSERT_TRUE(world.host.run_until([&] { return !world.coordinator.welcomed(); }));
  ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.welcomed(); }));

  EXPECT_EQ(StepWorld::has(world.ask(1, {4})), std::vector{false});
}

TEST(States, OfARepeatedRequestAreAnsweredOnce) {
  StepWorld world;
  world.result_of(world.lease(1));
  for (const std::uint32_t group : {2U, 3U}) {
    world.coordinator.send(
        protocol::OpenStates{.task = StepWorld::task(1), .attempt = 1, .groups = {group}});
  }
  world.host.run_for(10s);

  ASSERT_EQ(world.answers().size(), 1U);
  EXPECT_EQ(world.answers()[0].states[0].group, 3U);
  EXPECT_EQ(StepWorld::has(world.answers()[0]), std::vector{true});
}

TEST(States, AreStoredOneAfterTheOtherForAllResults) {
  StepWorld world;
  for (std::uint8_t number = 1; number <= 3; ++number) world.result_of(world.lease(number));
  for (std::uint8_t number = 1; number <= 3; ++number) {
    world.coordinator.send(
        protocol::OpenStates{.task = StepWorld::task(number), .attempt = 1, .groups = {1, 2, 3}});
  }
  // The answer for the first result is dropped while a state of it is being stored.
  world.host.run_for(1ms);
  world.coordinator.send(protocol::Verdict{.task = StepWorld::task(1), .attempt = 1});
  world.host.run_for(10s);

  ASSERT_EQ(world.answers().size(), 2U);
  EXPECT_EQ(world.answers()[0].task, StepWorld::task(2));
  EXPECT_EQ(world.answers()[1].task, StepWorld::task(3));
  EXPECT_EQ(StepWorld::has(world.answers()[1]), (std::vector{true, true, true}));
}

}  // namespace
}  // namespace weft::worker
