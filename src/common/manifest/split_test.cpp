// Cutting a job loses and repeats nothing: tasks and pieces cover the axis in order, and joined
// parts are the whole.
#include "common/manifest/split.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::manifest {
namespace {

Manifest rows_job(std::uint32_t length, std::uint32_t tasks) {
  Manifest manifest;
  manifest.steps = {{.entry = "main", .dispatch = {3, length, 1}}};
  manifest.split = {.tasks = tasks, .axis = Axis::y};
  Binding output;
  output.shape = {std::uint64_t{length} * 2, 5};
  output.split_dim = 0;
  manifest.bindings = {output};
  return manifest;
}

TEST(Split, GivesTheRemainderToTheFirstTasks) {
  const Manifest manifest = rows_job(10, 4);

  EXPECT_EQ(task_range(manifest, 0), (Range{.first = 0, .count = 3}));
  EXPECT_EQ(task_range(manifest, 1), (Range{.first = 3, .count = 3}));
  EXPECT_EQ(task_range(manifest, 2), (Range{.first = 6, .count = 2}));
  EXPECT_EQ(task_range(manifest, 3), (Range{.first = 8, .count = 2}));
}

TEST(Split, CoversTheAxisAndTheOutputWithoutGapsForEveryNumberOfTasks) {
  for (std::uint32_t length = 1; length <= 17; ++length) {
    for (std::uint32_t tasks = 1; tasks <= length; ++tasks) {
      const Manifest manifest = rows_job(length, tasks);
      std::uint32_t next = 0;
      std::uint64_t bytes = 0;
      for (std::uint32_t task = 0; task < tasks; ++task) {
        const Range range = task_range(manifest, task);
        ASSERT_GT(range.count, 0U);
        ASSERT_EQ(range.first, next);
        next += range.count;
        for (const std::uint32_t most : {0U, 1U, 2U, 5U}) {
          std::uint32_t inner = range.first;
          for (const Range& piece : pieces(manifest, range, most)) {
            ASSERT_EQ(piece.first, inner);
            ASSERT_TRUE(most == 0 || piece.count <= most);
            inner += piece.count;
          }
          ASSERT_EQ(inner, range.first + range.count);
        }
        const Extent extent = output_extent(manifest, 0, range);
        ASSERT_EQ(extent.offset, bytes);
        bytes += extent.size;
      }
      ASSERT_EQ(next, length);
      ASSERT_EQ(bytes, manifest.output_bytes()[0]);
    }
  }
}

TEST(Split, DoesNotOverflowNearTheLongestAxis) {
  Manifest manifest = rows_job(0xffffffff, 2);
  manifest.bindings[0].shape = {0xffffffff};

  EXPECT_EQ(task_range(manifest, 1), (Range{.first = 0x80000000, .count = 0x7fffffff}));
  EXPECT_EQ(pieces(manifest, {.first = 0x80000000, .count = 0x7fffffff}, 0x7ffffffe).back(),
            (Range{.first = 0xfffffffe, .count = 1}));
}

TEST(Split, CutsNothingWhenOneOutputIsWhole) {
  Manifest manifest = rows_job(8, 1);
  manifest.bindings.push_back({.binding = 1, .shape = {7}});

  EXPECT_FALSE(can_cut(manifest));
  EXPECT_EQ(pieces(manifest, {.first = 0, .count = 8}, 2).size(), 1U);
  EXPECT_EQ(output_extent(manifest, 1, {.first = 0, .count = 8}).size, 28U);
}

TEST(Split, CutsAKernelAlongItsRows) {
  Manifest manifest;
  manifest.kind = Kind::kernel;
  manifest.kernel = {.name = "matmul_i8", .m = 7, .n = 3, .k = 2, .a = {}, .b = {}};
  manifest.split.tasks = 2;

  EXPECT_EQ(axis_length(manifest), 7U);
  const Extent extent = output_extent(manifest, 0, task_range(manifest, 1));
  EXPECT_EQ(extent.offset, 4U * 3 * 4);
  EXPECT_EQ(extent.size, 3U * 3 * 4);
}

TEST(Join, PutsPartsInTheOrderOfTasks) {
  Manifest manifest = rows_job(4, 2);
  Binding whole{.binding = 1, .shape = {1}};
  whole.concat = true;
  manifest.bindings.push_back(whole);
  const std::vector<std::vector<ByteVector>> parts = {{{1, 2}, {7}}, {{3}, {8, 9}}};

  const auto joined = join(manifest, parts);

  EXPECT_EQ(joined, (std::vector<ByteVector>{{1, 2, 3}, {7, 8, 9}}));
}

}  // namespace
}  // namespace weft::manifest
