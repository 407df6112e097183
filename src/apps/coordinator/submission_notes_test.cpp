// Tests of the notes for a client that submits a job: how its results will be checked, what that
// costs, and what hinders it.
#include "apps/coordinator/ingest/submission_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_work.h"

namespace weft::coordinator {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Checking usual{.verifier = true, .known = 0, .cost_permille = 20};

// A job with tasks of four workgroups, each of which writes 16 bytes.
manifest::Manifest small_tasks() {
  manifest::Manifest manifest = manifest::parse(jobs::count_manifest(16, 1)).value();
  for (manifest::Binding& binding : manifest.bindings) binding.shape.front() *= 4;
  return manifest;
}

TEST(SubmissionNotes, TasksThatCutIntoFewPartsAndTheCostOfCheckingAreSaid) {
  EXPECT_THAT(
      submission_notes(small_tasks(), usual),
      ElementsAre(HasSubstr("cuts into 4 parts"), HasSubstr("2.0 % of what the job's workers")));

  manifest::Manifest large = small_tasks();
  large.split.tasks = 1;  // The task has 64 workgroups.
  EXPECT_THAT(submission_notes(large, usual), Not(Contains(HasSubstr("cuts into"))));
  EXPECT_THAT(submission_notes(large, {.verifier = true}), ElementsAre());
}

TEST(SubmissionNotes, AJobWhoseResultsMayAllSayThatNothingWasFoundIsNotCovered) {
  constexpr auto not_covered = "let the shader also write a digest";
  EXPECT_THAT(submission_notes(small_tasks(), usual), Not(Contains(HasSubstr(not_covered))));
  manifest::Manifest search = small_tasks();
  search.steps.front().dispatch[0] *= 4;
  EXPECT_THAT(submission_notes(search, usual), Contains(HasSubstr(not_covered)));
  search.kind = manifest::Kind::kernel;
  EXPECT_THAT(submission_notes(search, usual), Not(Contains(HasSubstr(not_covered))));
}

TEST(SubmissionNotes, AJobThatNothingCanCheckNowIsSaidToWait) {
  EXPECT_THAT(submission_notes(small_tasks(), {}),
              Contains(HasSubstr("results cannot be checked now")));
  EXPECT_THAT(submission_notes(small_tasks(), {.known = 1}),
              Not(Contains(HasSubstr("results cannot be checked now"))));
}

TEST(SubmissionNotes, AJobThatTrustsAnyoneIsToldWhatThatMeans) {
  manifest::Manifest manifest = small_tasks();
  manifest.verify.anyone = true;
  EXPECT_THAT(submission_notes(manifest, usual), ElementsAre(HasSubstr("\"anyone\"")));
}

}  // namespace
}  // namespace weft::coordinator
