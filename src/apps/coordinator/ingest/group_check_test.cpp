// Tests of the check that computes drawn groups of steps from the states before them: which states
// the verifier believes, and what a group that differs says of the worker and of the job. The
// device is simulated: one step turns each byte into another byte.
#include "apps/coordinator/ingest/group_check.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "common/manifest/step_groups.h"
#include "common/proof/merkle.h"
#include "common/proof/task_state.h"
#include "decisions/jobs/test_work.h"

namespace weft::coordinator {
namespace {

constexpr std::uint32_t steps = 8;
constexpr std::size_t output_bytes = 4;

using Outputs = std::vector<ByteVector>;

Outputs step(Outputs state, std::uint32_t number) {
  for (auto& byte : state.front()) byte = static_cast<std::uint8_t>(byte * 31 + number + 1);
  return state;
}

// A state with this byte makes the simulated devices differ. No step of the job computes it.
constexpr std::uint8_t odd = 0xEE;

class SteppingDevice final : public PartRunner {
 public:
  struct Machine {
    bool has_second = true;
    bool differs_from_odd = false;  // The second device gives another byte for `odd`.
    bool differs_by_run = false;
    bool second_differs_by_run = false;
    bool is_slow = false;
    int runs = 0;
    std::vector<std::uint32_t> first_steps{};
  };
  explicit SteppingDevice(Machine& machine, bool is_second = false)
      : machine_(machine), is_second_(is_second) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, const PartRun& part,
                  Duration) override {
    ++machine_.runs;
    machine_.first_steps.push_back(part.step_first);
    if (machine_.is_slow) return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    Outputs state = part.state == nullptr ? Outputs{ByteVector(output_bytes)} : *part.state;
    const bool is_odd = state.front().front() == odd;
    for (std::uint32_t i = 0; i < part.step_count; ++i) state = step(state, part.step_first + i);
    if (is_odd && is_second_ && machine_.differs_from_odd) state.front().back() ^= 1;
    if (machine_.differs_by_run || (is_second_ && machine_.second_differs_by_run))
      state.front().back() = static_cast<std::uint8_t>(machine_.runs);
    return Ran{.outputs = std::move(state), .seconds = 0.001, .rate = 1};
  }
  void rest() override {}
  std::string vendor() const override { return is_second_ ? "google" : "mesa"; }
  std::unique_ptr<PartRunner> on_another_device() override {
    return machine_.has_second ? std::make_unique<SteppingDevice>(machine_, true) : nullptr;
  }

 private:
  Machine& machine_;
  const bool is_second_;
};

class Folder {
 public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "weft-group-check-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class GroupCheckTest : public testing::Test {
 protected:
  // The states of an honest worker: state i is the outputs after i steps.
  static std::vector<Outputs> honest() {
    std::vector<Outputs> states{{ByteVector(output_bytes)}};
    for (std::uint32_t i = 0; i < steps; ++i) states.push_back(step(states.back(), i));
    return states;
  }
  proof::StatedTask stated() const {
    return {.id = task_,
            .manifest = {},
            .first = 0,
            .count = 1,
            .unit = proof::StatedTask::Unit::steps,
            .of = steps};
  }
  store::OutputBlob stored(const Outputs& outputs, std::uint32_t done) {
    const ByteVector blob = proof::encode_state(stated(), done, outputs);
    return {.hash = blobs_->put(blob).value(), .bytes = blob.size()};
  }
  // An order for one group of one step, between two of the worker's states.
  jobs::VerifyOrder order(const std::vector<Outputs>& states, std::uint32_t group) {
    jobs::VerifyOrder made{
        .task = task_,
        .manifest = manifest_,
        .root = proof::task_root(states.back()),
        .outputs = {{.hash = blobs_->put(states.back().front()).value(), .bytes = output_bytes}},
        .ranges = {{.first = 0, .count = 1}},
        .client = {},
        .rivals = {}};
    add(made, states, group);
    return made;
  }
  void add(jobs::VerifyOrder& made, const std::vector<Outputs>& states, std::uint32_t group) {
    jobs::VerifyOrder::Group& added = made.groups.emplace_back();
    added.first = manifest::steps_of_group(*manifest_, group).first;
    added.count = manifest::steps_of_group(*manifest_, group).count;
    added.before = proof::task_root(states[group]);
    added.after = proof::task_root(states[group + 1]);
    if (group > 0) added.state = stored(states[group], group);
  }
  Result<jobs::Checked> check(const jobs::VerifyOrder& made) {
    auto known = jobs_.find_or_load(task_.job, manifest_);
    EXPECT_TRUE(known.has_value());
    return groups_.check(made, **known);
  }

  const std::shared_ptr<const manifest::Manifest> manifest_ =
      std::make_shared<const manifest::Manifest>(
          manifest::parse(jobs::steps_manifest(steps, output_bytes / 4)).value());
  const TaskId task_{.job = {}, .index = 0};
  Folder folder_;
  std::unique_ptr<store::Blobs> blobs_ = store::Blobs::open(folder_.path(), {}).value();
  SteppingDevice::Machine machine_;
  VerifiedJobs jobs_{*blobs_, {}};
  DeviceRuns runs_{[this] { return std::make_unique<SteppingDevice>(machine_); },
                   std::chrono::hours(1)};
  ResultBytes bytes_{*blobs_};
  SecondLook look_{runs_, bytes_};
  GroupCheck groups_{*blobs_, jobs_, runs_, look_};
};

TEST_F(GroupCheckTest, GroupsOfAnHonestWorkerAgreeAndOnlyTheirStepsAreRun) {
  jobs::VerifyOrder made = order(honest(), 3);
  add(made, honest(), 7);

  const auto checked = check(made);

  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_EQ(checked->outcome, trust::AuditOutcome::agrees);
  EXPECT_TRUE(checked->of_steps);
  EXPECT_EQ(checked->reason,
            "Computed steps 3 to 3, 7 to 7, from the worker's own states before them.");
  for (const std::uint32_t first : machine_.first_steps) EXPECT_TRUE(first == 3 || first == 7);
}

TEST_F(GroupCheckTest, TheFirstGroupBeginsFromTheJobsOwnData) {
  const auto checked = check(order(honest(), 0));

  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_EQ(checked->outcome, trust::AuditOutcome::agrees);
}

// The worker leaves one group out and computes all later groups from an invented state.
TEST_F(GroupCheckTest, AGroupThatWasLeftOutDiffersAndLaterOnesDoNot) {
  std::vector<Outputs> states = honest();
  states[4] = states[3];
  for (std::uint32_t i = 4; i < steps; ++i) states[i + 1] = step(states[i], i);

  const auto wrong = check(order(states, 3));
  const auto later = check(order(states, 5));

  ASSERT_TRUE(wrong.has_value()) << wrong.error().message;
  EXPECT_EQ(wrong->outcome, trust::AuditOutcome::differs);
  EXPECT_EQ(wrong->devices, trust::Devices::two);
  EXPECT_TRUE(wrong->of_steps) << "the result may be right";
  EXPECT_EQ(wrong->wrong, (manifest::Range{.first = 0, .count = 1})) << "the whole task";
  ASSERT_TRUE(later.has_value()) << later.error().message;
  EXPECT_EQ(later->outcome, trust::AuditOutcome::agrees);
}

TEST_F(GroupCheckTest, ARightResultOverInventedStepsDiffers) {
  std::vector<Outputs> states = honest();
  for (std::uint32_t i = 1; i < steps; ++i) states[i] = {ByteVector(output_bytes, 7)};

  for (std::uint32_t group = 0; group < steps; ++group) {
    const auto checked = check(order(states, group));
    ASSERT_TRUE(checked.has_value()) << checked.error().message;
    EXPECT_EQ(checked->outcome, trust::AuditOutcome::differs) << group;
  }
}

TEST_F(GroupCheckTest, AStateWithAnotherRootCountsAsNotSent) {
  jobs::VerifyOrder made = order(honest(), 3);
  made.groups[0].state = stored({ByteVector(output_bytes, 9)}, 3);

  const auto checked = check(made);

  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_TRUE(checked->unanswered);
  EXPECT_EQ(checked->outcome, trust::AuditOutcome::failed);
  EXPECT_EQ(machine_.runs, 0) << "nothing is computed from it";
}

TEST_F(GroupCheckTest, ABlobThatIsNoStateOrHasOtherOutputsCountsAsNotSent) {
  const ByteVector text{'n', 'o'};
  for (const store::OutputBlob& blob :
       {store::OutputBlob{.hash = blobs_->put(text).value(), .bytes = text.size()},
        stored({ByteVector(output_bytes), ByteVector(1)}, 3),
        stored({ByteVector(output_bytes + 1)}, 3), stored({}, 3)}) {
    jobs::VerifyOrder made = order(honest(), 3);
    made.groups[0].state = blob;
    const auto checked = check(made);
    ASSERT_TRUE(checked.has_value()) << checked.error().message;
    EXPECT_TRUE(checked->unanswered);
  }
}

TEST_F(GroupCheckTest, AStateThatIsNoLongerStoredIsAskedForAgain) {
  jobs::VerifyOrder made = order(honest(), 3);
  ASSERT_TRUE(blobs_->remove(made.groups[0].state->hash).has_value());

  const auto checked = check(made);

  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, ErrorCode::deadline_exceeded) << "late, not unanswered";
}

// If a state from which devices differ ended its job, a stranger could end any job by sending one.
TEST_F(GroupCheckTest, AStateFromWhichDevicesDifferEndsNoJob) {
  machine_.differs_from_odd = true;
  std::vector<Outputs> states = honest();
  states[3] = {ByteVector(output_bytes, odd)};
  states[4] = step(states[3], 3);
  states[4].front().back() ^= 1;  // The second device computes this byte.

  const auto checked = check(order(states, 3));

  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_FALSE(checked->unsteady);
  EXPECT_EQ(checked->outcome, trust::AuditOutcome::differs);
  EXPECT_EQ(checked->devices, trust::Devices::divided) << "and it counts against no worker";
}

TEST_F(GroupCheckTest, StepsThatChangeFromRunToRunEndTheJobIfTheyBeginFromItsOwnData) {
  machine_.differs_by_run = true;
  std::vector<Outputs> states = honest();
  states[1].front().front() ^= 1;

  const auto own = check(order(states, 0));
  const auto sent = check(order(states, 1));

  ASSERT_TRUE(own.has_value()) << own.error().message;
  EXPECT_TRUE(own->unsteady);
  ASSERT_TRUE(sent.has_value()) << sent.error().message;
  EXPECT_FALSE(sent->unsteady);
  EXPECT_EQ(sent->devices, trust::Devices::divided);
}

TEST_F(GroupCheckTest, StepsThatChangeFromRunToRunOnTheSecondDeviceAloneEndTheJobToo) {
  machine_.second_differs_by_run = true;
  std::vector<Outputs> states = honest();
  states[1].front().front() ^= 1;

  const auto checked = check(order(states, 0));

  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_TRUE(checked->unsteady);
  EXPECT_EQ(checked->reason, changes_by_run) << "no device's word counts against the worker";
}

// A worker chooses the state that it sends, and so how long the steps from the state take.
TEST_F(GroupCheckTest, AStateWhoseStepsTakeTooLongDoesNotKeepTheJobFromOtherChecks) {
  machine_.is_slow = true;
  const auto slow = check(order(honest(), 3));
  ASSERT_FALSE(slow.has_value());
  EXPECT_EQ(slow.error().code, ErrorCode::deadline_exceeded);
  machine_.is_slow = false;

  EXPECT_TRUE(check(order(honest(), 5)).has_value());
  EXPECT_TRUE(check(order(honest(), 0)).has_value());
}

TEST_F(GroupCheckTest, StatesCountAgainstTheBoundOfTheVerifiersData) {
  const jobs::VerifyOrder made = order(honest(), 3);
  VerifiedJobs small(*blobs_, {.bytes_max = made.groups[0].state->bytes});
  GroupCheck groups(*blobs_, small, runs_, look_);
  VerifiedJobs::Known* const known = small.find_or_load(task_.job, manifest_).value();

  const auto checked = groups.check(made, *known);

  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(small.bytes(), 0U);
  ASSERT_TRUE(check(made).has_value());
  EXPECT_EQ(jobs_.bytes(), 0U) << "given back when the check ends";
}

}  // namespace
}  // namespace weft::coordinator
