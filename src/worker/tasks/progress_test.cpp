// A task in parts gives the bytes of a task in one, wherever it is stopped and whichever worker
// continues; a checkpoint that does not fit is refused.
#include "worker/tasks/progress.h"

#include <gtest/gtest.h>

#include <functional>

namespace weft::worker {
namespace {

std::shared_ptr<const exec::Job> job(std::string_view text) {
  auto made = std::make_shared<exec::Job>();
  made->manifest = manifest::parse(text).value();
  return made;
}
std::shared_ptr<const exec::Job> cut_job() {
  return job(
      R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"entry":"main","dispatch":[64],"split":{"tasks":2,"axis":"x"},)"
      R"("bindings":[{"binding":0,"role":"output","type":"u32","shape":[128],"split_dim":0},{"binding":1,"role":"output","type":"f16","shape":[64],"split_dim":0}],"verify":{"compare":"exact"}})");
}
std::shared_ptr<const exec::Job> stepped_job() {
  return job(
      R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"bindings":[{"binding":0,"role":"inout","type":"u32","shape":[4]}],)"
      R"("steps":[{"entry":"a","dispatch":[1]},{"entry":"a","dispatch":[1]},{"entry":"a","dispatch":[1]},{"entry":"a","dispatch":[1]}]})");
}

// Returns the output of a simulated device. For a range of workgroups the bytes follow from the
// number of each workgroup; for steps the bytes are a digest of the state before and the steps.
exec::Output device(const exec::Job& job, const exec::RunOptions& options) {
  exec::Output output{.outputs = {}, .gpu_seconds = 1, .wall_seconds = 2, .dispatches = 1};
  if (options.step_count == 0 && manifest::can_cut(job.manifest)) {
    ByteVector wide;
    ByteVector narrow;
    for (std::uint32_t group = options.range.first;
         group < options.range.first + options.range.count; ++group) {
      wide.insert(wide.end(), 8, static_cast<std::uint8_t>(group + 1));
      narrow.insert(narrow.end(), 2, static_cast<std::uint8_t>(group * 3));
    }
    output.outputs = {wide, narrow};
    return output;
  }
  ByteVector state = options.state ? options.state->front() : ByteVector(16);
  const std::uint32_t steps = options.step_count == 0 ? 4 : options.step_count;
  for (std::uint32_t step = options.step_first; step < options.step_first + steps; ++step) {
    for (auto& byte : state) byte = static_cast<std::uint8_t>(byte * 7 + step + 1);
  }
  output.outputs = {state};
  return output;
}

Progress::Task task(manifest::Range range) {
  return {.id = {.job = {}, .index = 1}, .manifest = {}, .range = range, .piece_workgroups_max = 3};
}

void run(Progress& progress, const exec::Job& of, std::uint32_t parts) {
  progress.take(parts, device(of, progress.next(parts)));
}

TEST(Progress, GivesTheSameBytesFromEveryCheckpoint) {
  struct Row {
    std::shared_ptr<const exec::Job> of;
    manifest::Range range;
    std::uint32_t parts;
  };
  for (const Row& row : {Row{cut_job(), {.first = 32, .count = 32}, 32},
                         Row{stepped_job(), {.first = 0, .count = 1}, 4}}) {
    Progress whole(task(row.range), row.of);
    ASSERT_EQ(whole.of(), row.parts);
    run(whole, *row.of, row.parts);
    const auto expected = whole.finish().outputs;
    for (std::uint32_t stop = 1; stop < row.parts; ++stop) {
      Progress first(task(row.range), row.of);
      for (std::uint32_t i = 0; i < stop; ++i) run(first, *row.of, 1);
      Progress second(task(row.range), row.of);

      const auto resumed = second.resume(first.checkpoint());

      ASSERT_TRUE(resumed.has_value()) << resumed.error().message;
      EXPECT_EQ(second.done(), stop);
      EXPECT_DOUBLE_EQ(second.resumed(), static_cast<double>(stop) / row.parts);
      run(second, *row.of, row.parts);
      ASSERT_TRUE(second.complete());
      const exec::Output output = second.finish();
      EXPECT_EQ(output.outputs, expected) << "stopped after " << stop;
      EXPECT_EQ(output.dispatches, 1U);  // Counts only the dispatches since it resumed.
    }
  }
}

TEST(Progress, TakesNoCheckpointThatIsNotWholeOrNotItsOwn) {
  const auto of = cut_job();
  const manifest::Range range{.first = 32, .count = 32};
  Progress made(task(range), of);
  run(made, *of, 5);
  const ByteVector good = made.checkpoint();
  const auto refused = [&](const ByteVector& bytes) {
    Progress fresh(task(range), of);
    const auto taken = fresh.resume(bytes);
    return !taken && taken.error().code == ErrorCode::data_loss && fresh.done() == 0;
  };

  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_TRUE(refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  ByteVector longer = good;
  longer.push_back(0);
  EXPECT_TRUE(refused(longer));
  // The bytes before the first output's bytes.
  constexpr std::size_t head = 8 + 16 + 4 + 32 + 6 * 4 + 8;
  for (std::size_t at = 0; at < head; ++at) {
    ByteVector wrong = good;
    wrong[at] ^= 1;
    EXPECT_TRUE(refused(wrong)) << at;
  }
  Progress other(
      {.id = {.job = {}, .index = 0}, .manifest = {}, .range = {.first = 0, .count = 32}}, of);
  EXPECT_FALSE(other.resume(good).has_value());
}

TEST(Progress, ChoosesPartsByWhatOneTook) {
  const Progress progress(
      task({.first = 0, .count = 640}),
      job(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"entry":"main","dispatch":[640],"split":{"tasks":1,"axis":"x"},)"
          R"("bindings":[{"binding":0,"role":"output","type":"u32","shape":[640],"split_dim":0}]})"));
  EXPECT_EQ(parts_for(progress, 0, 1), 10U);  // The time of a part is not known yet.
  EXPECT_EQ(parts_for(progress, 0.01, 1), 100U);
  EXPECT_EQ(parts_for(progress, 5, 1), 1U);  // One part takes longer than wanted.
  EXPECT_EQ(parts_for(progress, 0.001, 0.5),
            640U);  // 500 parts take 0.5 s; the 140 that would be left are added.
}

}  // namespace
}  // namespace weft::worker
