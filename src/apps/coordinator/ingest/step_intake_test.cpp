// Results with roots of steps, and the states that a check asks for, as they arrive: the number of
// roots, the blobs that count as states of a task, and the room for them.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "apps/coordinator/ingest/intake.h"
#include "apps/coordinator/ingest/output_room.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"
#include "common/proof/task_state.h"
#include "decisions/jobs/state_room.h"
#include "decisions/jobs/test_work.h"

namespace weft::coordinator {
namespace {

constexpr std::uint32_t intake_steps = 8;
constexpr std::size_t intake_bytes = 16;

class StepIntake : public testing::Test {
 protected:
  StepIntake() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "weft-step-intake-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    blobs_ = store::Blobs::open(folder_, {}).value();
    intake_ = std::make_unique<Intake>(*blobs_);
  }
  ~StepIntake() override { std::filesystem::remove_all(folder_); }

  Result<> take_with(std::size_t roots) {
    protocol::ResultFrame frame;
    frame.payload = ByteVector(intake_bytes, 7);
    frame.result.task = task_;
    frame.result.root = proof::task_root(std::array{frame.payload});
    frame.result.outputs = {
        {.hash = crypto::sha256(frame.payload), .bytes = intake_bytes, .in_frame = true}};
    frame.result.step_roots.resize(roots);
    return intake_->take(manifest_, frame);
  }
  ByteVector state_of(const TaskId& task) const {
    const proof::StatedTask stated{.id = task,
                                   .manifest = {},
                                   .first = 0,
                                   .count = 1,
                                   .unit = proof::StatedTask::Unit::steps,
                                   .of = intake_steps};
    return proof::encode_state(stated, 3, std::array{ByteVector(intake_bytes)});
  }
  protocol::StepState stored(const ByteVector& bytes) {
    return {.group = 3, .blob = blobs_->put(bytes).value(), .bytes = bytes.size()};
  }

  const manifest::Manifest manifest_ =
      manifest::parse(jobs::steps_manifest(intake_steps, intake_bytes / 4)).value();
  const TaskId task_{.job = {}, .index = 0};
  std::filesystem::path folder_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<Intake> intake_;
};

TEST_F(StepIntake, AResultHasARootForEachGroupButTheLastOrNone) {
  EXPECT_TRUE(take_with(0).has_value()) << "it is checked whole";
  EXPECT_TRUE(take_with(intake_steps - 1).has_value());
  for (const std::size_t roots :
       {std::size_t{1}, std::size_t{intake_steps - 2}, std::size_t{intake_steps}}) {
    const auto taken = take_with(roots);
    ASSERT_FALSE(taken.has_value()) << roots;
    EXPECT_EQ(taken.error().code, ErrorCode::data_loss);
  }
}

TEST_F(StepIntake, ABlobIsAStateOfItsOwnTaskOnly) {
  const ByteVector state = state_of(task_);
  EXPECT_TRUE(intake_->holds(task_, stored(state)));

  JobId other;
  other.bytes[0] = 1;
  EXPECT_FALSE(intake_->holds(task_, stored(state_of({.job = other, .index = 0})))) << "a job's";
  EXPECT_FALSE(intake_->holds(task_, stored(state_of({.job = {}, .index = 1})))) << "a task's";
  EXPECT_FALSE(intake_->holds(task_, stored(ByteVector(100, 1)))) << "no state";
  protocol::StepState wrong = stored(state);
  ++wrong.bytes;
  EXPECT_FALSE(intake_->holds(task_, wrong)) << "another size";
  EXPECT_FALSE(intake_->holds(task_, {.group = 3, .blob = stored(state).blob})) << "it has none";
  EXPECT_FALSE(intake_->holds(task_, {.group = 3, .blob = {}, .bytes = state.size()}));
}

TEST_F(StepIntake, TheRoomOfAJobHasThatOfTheStatesOfOneCheck) {
  const JobRoom room = room_of(manifest_);

  EXPECT_EQ(jobs::state_bytes(manifest_, 0), state_of(task_).size());
  EXPECT_EQ(room.needs.states, 7 * state_of(task_).size()) << "each group but the first";
  EXPECT_GE(room.needs.total(), room.needs.results + room.needs.states);
  manifest::Manifest one_step =
      manifest::parse(jobs::steps_manifest(intake_steps, intake_bytes / 4)).value();
  one_step.steps.resize(1);
  EXPECT_EQ(room_of(one_step).needs.states, 0U);
}

TEST_F(StepIntake, AJobWhoseStatesAreTooLargeIsNotCheckedByGroups) {
  manifest::Manifest large =
      manifest::parse(jobs::steps_manifest(intake_steps, intake_bytes / 4)).value();
  large.bindings[0].shape = {std::uint64_t{20} << 20};  // The output has 80 MiB.
  EXPECT_EQ(jobs::checked_groups(large).apart_max, 3U);
  large.bindings[0].shape = {std::uint64_t{80} << 20};

  EXPECT_EQ(jobs::checked_groups(large).all, 1U);
  EXPECT_EQ(jobs::state_room(large), 0U);
  large = manifest::parse(jobs::steps_manifest(intake_steps, intake_bytes / 4)).value();
  large.verify.anyone = true;
  EXPECT_EQ(jobs::checked_groups(large).all, 1U) << "no result is checked";
}

}  // namespace
}  // namespace weft::coordinator
