// Long tasks run in parts: they are checkpointed, continue on other workers, and yield to other
// tasks. Tasks of several clients share one device in slices: its time by the clients' weights, and
// its memory by partitions.
#include "common/proof/merkle.h"
#include "common/protocol/messages.h"
#include "worker/tasks/test_world.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t groups = 1000;
const std::string long_manifest =
    R"({"weft":1,"kind":"wgsl","name":"long","shader":{"inline":"x"},"entry":"main","bindings":[{"binding":0,"role":"output","type":"u32","shape":[1000],"split_dim":0}],)"
    R"("dispatch":[1000],"split":{"tasks":1,"axis":"x"}})";

// A runner in which each workgroup takes the time `each` and outputs its number.
class CountingRunner final : public TaskRunner {
 public:
  explicit CountingRunner(FakeHost& host) : host_(host) {}
  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override {
    ASSERT_FALSE(done_) << "one part at a time";
    done_ = std::move(done);
    runs.push_back(task);
    host_.after(each * task.options.range.count, [this, serial = ++serial_, task] {
      if (serial != serial_ || !done_) return;
      if (refuses_parts && task.options.range.first > 0) {
        return std::exchange(done_,
                             {})(fail(ErrorCode::invalid_argument, "The origin cannot be told."));
      }
      std::exchange(done_, {})(exec::Output{.outputs = {outputs(task.options.range)},
                                            .gpu_seconds = 0.01,
                                            .wall_seconds = 0.02,
                                            .dispatches = 1});
    });
  }
  void cancel() override {
    host_.later([this, serial = serial_] {
      if (serial == serial_ && done_)
        std::exchange(done_, {})(fail(ErrorCode::cancelled, "The task was cancelled."));
    });
  }
  static ByteVector outputs(manifest::Range range) {
    ByteVector bytes;
    for (std::uint32_t group = range.first; group < range.first + range.count; ++group)
      append_le(bytes, group);
    return bytes;
  }
  [[nodiscard]] std::uint32_t computed() const {
    std::uint32_t sum = 0;
    for (const TaskRun& run : runs) sum += run.options.range.count;
    return sum;
  }

  Duration each = 20ms;
  bool refuses_parts = false;
  std::vector<TaskRun> runs;

 private:
  FakeHost& host_;
  std::function<void(Result<exec::Output>)> done_;
  std::uint64_t serial_ = 0;
};

struct Bench {
  explicit Bench(Session::Options options = {})
      : session(host, runner, key, std::move(options),
                [this](const Event& event) { events.push_back(event); }) {
    coordinator.answer_verdicts = false;
  }
  template <class T>
  [[nodiscard]] std::vector<T> heard() const {
    std::vector<T> found;
    for (const auto& message : coordinator.heard) {
      if (const auto* one = std::get_if<T>(&message)) found.push_back(*one);
    }
    return found;
  }
  template <class T>
  [[nodiscard]] std::vector<T> seen() const {
    std::vector<T> found;
    for (const Event& event : events) {
      if (const auto* one = std::get_if<T>(&event)) found.push_back(*one);
    }
    return found;
  }
  void join() {
    session.start();
    ASSERT_TRUE(host.run_until(
        [&] { return coordinator.welcomed() && session.state() == SessionState::idle; }));
  }
  protocol::Lease lease(std::uint32_t number) const {
    protocol::Lease made{.manifest = manifest, .wall_ms_max = 600'000};
    made.job.bytes[0] = static_cast<std::uint8_t>(number);
    made.client.bytes[0] = static_cast<std::uint8_t>(number);
    made.tasks = {{.index = 0, .attempt = 1, .first = 0, .count = groups}};
    return made;
  }

  FakeHost host;
  CountingRunner runner{host};
  FakeCoordinator coordinator{host};
  crypto::KeyPair key = crypto::KeyPair::generate().value();
  Hash manifest = host.add_blob({long_manifest.begin(), long_manifest.end()});
  std::vector<Event> events;
  Session session;
};

Hash root_of_whole() {
  return proof::root_of_roots(std::vector<Hash>{proof::root_of_leaves(
      proof::chunk_leaves(CountingRunner::outputs({.first = 0, .count = groups})))});
}

Session::Options long_options() {
  Session::Options options;
  options.work.wall_max = std::chrono::hours(1);
  return options;
}

TEST(Residents, KeepsALongTaskSoThatAtMostATwentiethIsLost) {
  Bench bench(long_options());
  bench.join();
  protocol::Lease lease = bench.lease(1);
  lease.checkpoint_ms = 250;
  bench.coordinator.send(lease);

  ASSERT_TRUE(bench.host.run_until([&] { return !bench.seen<event::TaskDone>().empty(); }));
  bench.host.run_for(1s);

  const auto kept = bench.heard<protocol::Checkpoint>();
  ASSERT_GE(kept.size(), 18U);
  std::uint32_t before = 0;
  for (const auto& checkpoint : kept) {
    EXPECT_LE(
        checkpoint.done - before,
        groups / 20 + groups / 64 + 1);  // 1/64: the first run, which measures the time of a part.
    EXPECT_TRUE(bench.host.blobs.contains(checkpoint.blob));
    before = checkpoint.done;
  }
  EXPECT_LE(groups - before, groups / 20 * 3 / 2);
  EXPECT_EQ(bench.runner.computed(), groups);
  ASSERT_FALSE(bench.coordinator.delivered.empty());
  EXPECT_EQ(bench.coordinator.delivered.back().root, root_of_whole());
}

TEST(Residents, RunsATaskAsAWholeIfNoCheckpointsAreWantedOrItIsShort) {
  Bench bench(long_options());
  bench.join();
  bench.coordinator.send(bench.lease(1));
  ASSERT_TRUE(bench.host.run_until([&] { return bench.seen<event::TaskDone>().size() == 1; }));
  EXPECT_EQ(bench.runner.runs.size(), 1U);

  bench.runner.each = 10us;  // The whole task takes 10 ms.
  protocol::Lease lease = bench.lease(2);
  lease.checkpoint_ms = 250;
  bench.coordinator.send(lease);
  ASSERT_TRUE(bench.host.run_until([&] { return bench.seen<event::TaskDone>().size() == 2; }));
  // One run of task 1, and two of task 2: its first part and the rest.
  EXPECT_EQ(bench.runner.runs.size(), 3U);
  EXPECT_TRUE(bench.heard<protocol::Checkpoint>().empty());
}

TEST(Residents, AnotherWorkerGoesOnWhereTheFirstWasLost) {
  Bench first(long_options());
  first.join();
  protocol::Lease lease = first.lease(1);
  lease.checkpoint_ms = 250;
  first.coordinator.send(lease);
  ASSERT_TRUE(
      first.host.run_until([&] { return first.heard<protocol::Checkpoint>().size() == 9; }));
  const auto last = first.heard<protocol::Checkpoint>().back();
  const std::uint32_t computed_there = first.runner.computed();  // The first worker is lost here.

  Bench second(long_options());
  second.host.blobs = first.host.blobs;
  second.join();
  lease.tasks[0].attempt = 2;
  lease.resume = {{.index = 0, .blob = last.blob, .bytes = last.bytes, .done = last.done}};
  second.coordinator.send(lease);
  ASSERT_TRUE(second.host.run_until([&] { return !second.coordinator.delivered.empty(); }));

  EXPECT_EQ(second.coordinator.delivered.back().root, root_of_whole());
  EXPECT_DOUBLE_EQ(second.coordinator.delivered.back().resumed,
                   static_cast<double>(last.done) / groups);
  const std::uint32_t repeated = computed_there + second.runner.computed() - groups;
  EXPECT_GT(computed_there, groups / 3);
  EXPECT_LE(repeated, 2 * (groups / 20)) << "a twentieth, and the part that was under way";
}

TEST(Residents, BeginsAtTheStartWithoutItsCheckpointOrWithAForeignOne) {
  for (const bool there : {false, true}) {
    Bench bench(long_options());
    bench.join();
    protocol::Lease lease = bench.lease(1);
    const Hash blob = there ? bench.host.add_blob(ByteVector(500, 1)) : Hash{};
    lease.resume = {{.index = 0, .blob = blob, .bytes = 500, .done = 500}};
    bench.coordinator.send(lease);

    ASSERT_TRUE(bench.host.run_until([&] { return !bench.coordinator.delivered.empty(); }));

    EXPECT_EQ(bench.runner.computed(), groups);
    EXPECT_EQ(bench.coordinator.delivered.back().root, root_of_whole());
    EXPECT_EQ(bench.coordinator.delivered.back().resumed, 0);
  }
}

TEST(Residents, MakesWayAtItsNextCheckpointAndIsGivenBackWithItsState) {
  Bench bench(long_options());
  bench.join();
  protocol::Lease lease = bench.lease(1);
  lease.checkpoint_ms = 250;
  bench.coordinator.send(lease);
  ASSERT_TRUE(
      bench.host.run_until([&] { return bench.heard<protocol::Checkpoint>().size() == 3; }));

  bench.coordinator.send(
      protocol::Yield{.tasks = {{.task = {.job = lease.job, .index = 0}, .attempt = 1}}});
  ASSERT_TRUE(
      bench.host.run_until([&] { return bench.heard<protocol::Checkpoint>().back().stopped; }));
  const std::uint32_t computed = bench.runner.computed();
  bench.host.run_for(10s);

  EXPECT_EQ(bench.runner.computed(), computed);  // No further part of the task runs.
  // All computed parts are in the checkpoint.
  EXPECT_EQ(bench.heard<protocol::Checkpoint>().back().done, computed);
  EXPECT_EQ(bench.session.stats().held, 0U);
  EXPECT_TRUE(bench.coordinator.delivered.empty());
}

TEST(Residents, LeavesItsStateBehindWhenItStops) {
  Bench bench(long_options());
  bench.join();
  protocol::Lease lease = bench.lease(1);
  lease.checkpoint_ms = 250;
  bench.coordinator.send(lease);
  ASSERT_TRUE(
      bench.host.run_until([&] { return bench.heard<protocol::Checkpoint>().size() == 3; }));

  bench.session.stop("enough");
  ASSERT_TRUE(bench.host.run_until([&] { return !bench.seen<event::Stopped>().empty(); }));
  bench.host.run_for(1s);

  EXPECT_TRUE(bench.heard<protocol::Checkpoint>().back().stopped);
  EXPECT_EQ(bench.heard<protocol::Bye>().size(), 1U);
}

TEST(Residents, RunsAShaderWholeWhoseOriginCannotBeTold) {
  Bench bench(long_options());
  bench.runner.refuses_parts = true;
  bench.join();
  protocol::Lease lease = bench.lease(1);
  lease.checkpoint_ms = 250;
  bench.coordinator.send(lease);

  ASSERT_TRUE(bench.host.run_until([&] { return !bench.coordinator.delivered.empty(); }));

  EXPECT_EQ(bench.coordinator.delivered.back().root, root_of_whole());
  EXPECT_TRUE(bench.heard<protocol::TaskFailed>().empty());
}

Session::Options sliced(std::uint32_t slots) {
  Session::Options options = long_options();
  options.connection.slots = slots;
  options.connection.slice_memory_bytes = 1 << 20;
  options.work.slices = slots;
  options.work.slice_memory_bytes = 1 << 20;
  options.work.memory_bytes = std::uint64_t{slots} << 20;
  return options;
}

// The test counts workgroups. All of them take equally long, so a client's share of the workgroups
// is its share of the device's time.
TEST(Residents, ClientsShareTheDeviceByTheirWeightsWhateverTheyHaveThere) {
  Bench bench(sliced(4));
  bench.join();
  // One client has three tasks, and another client with the same weight has one task; the tasks of
  // both run all the time.
  for (std::uint32_t number = 1; number <= 4; ++number) {
    protocol::Lease lease = bench.lease(number);
    lease.client = {};
    lease.client.bytes[0] = number <= 3 ? 1 : 2;
    lease.weight = 1;
    bench.coordinator.send(lease);
  }
  ASSERT_TRUE(bench.host.run_until([&] { return bench.runner.computed() >= groups; }));

  std::map<std::uint32_t, std::uint32_t> of_task;
  for (const event::TaskAdvanced& advanced : bench.seen<event::TaskAdvanced>())
    of_task[advanced.key.task.job.bytes[0]] += advanced.parts;
  const double many = of_task[1] + of_task[2] + of_task[3];
  EXPECT_NEAR(many / of_task[4], 1, 0.15);
  EXPECT_NEAR(static_cast<double>(of_task[1]) / of_task[2], 1, 0.2);
  EXPECT_NEAR(static_cast<double>(of_task[1]) / of_task[3], 1, 0.2);
}

TEST(Residents, AShortTaskIsDoneBesideALongOne) {
  Bench bench(sliced(2));
  bench.join();
  bench.coordinator.send(bench.lease(1));
  bench.host.run_for(2s);
  protocol::Lease lease = bench.lease(2);
  lease.tasks[0].count = 20;  // The task takes 0.4 s, instead of 20 s for task 1.
  bench.coordinator.send(lease);

  ASSERT_TRUE(bench.host.run_until([&] { return bench.seen<event::TaskDone>().size() == 1; }));

  EXPECT_EQ(bench.seen<event::TaskDone>()[0].key.task.job.bytes[0], 2);
  EXPECT_LT(bench.runner.computed(), groups / 4);
}

TEST(Residents, EveryPartIsHeldToItsTasksPartition) {
  Bench bench(sliced(2));
  bench.join();
  bench.coordinator.send(bench.lease(1));
  ASSERT_TRUE(bench.host.run_until([&] { return bench.seen<event::TaskDone>().size() == 1; }));

  for (const TaskRun& run : bench.runner.runs)
    EXPECT_EQ(run.options.bytes_max, std::uint64_t{1} << 20);
}

}  // namespace
}  // namespace weft::worker
