// The messages to watchers: their shape changes on purpose only (the page's types are generated
// from the golden file), tasks stay small on the wire and arrive unchanged, and a watcher's own
// message is bounded and strict.
#include "common/protocol/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

namespace weft::protocol::watch {
namespace {

using testing::ElementsAre;

const std::string golden_path = WEFT_SOURCE_DIR "/src/common/protocol/testdata/watch_schema.json";

TEST(WatchSchema, IsTheOneThatThePageIsGeneratedFrom) {
  const std::string schema = watch_schema();
  if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr)
    std::ofstream(golden_path, std::ios::binary) << schema;
  std::ostringstream golden;
  golden << std::ifstream(golden_path, std::ios::binary).rdbuf();

  EXPECT_EQ(schema, golden.str())
      << "WEFT_UPDATE_GOLDEN=1 rewrites the file; then run npm run wire-types in web/.";
}

std::vector<TaskState> random_tasks(std::size_t count, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<TaskState> tasks(count);
  for (auto& task : tasks) task = static_cast<TaskState>(random() % task_states);
  return tasks;
}

TEST(TaskMap, ArrivesAsItWasWhateverItsForm) {
  for (const std::size_t count : {1U, 2U, 3U, 64U, 1001U}) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      auto tasks = random_tasks(count, seed);
      if (seed % 2 == 0)
        std::fill(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(count / 2),
                  TaskState::accepted);
      std::vector<TaskState> read(count, TaskState::refused);

      ASSERT_TRUE(apply(map_of(tasks), read).has_value());

      EXPECT_EQ(read, tasks) << count << " tasks, seed " << seed;
    }
  }
}

TEST(TaskMap, OfChangedTasksLeavesTheOthersAlone) {
  std::vector<TaskState> tasks(100, TaskState::waiting);
  auto read = tasks;
  for (const std::size_t changed : {3U, 4U, 5U, 40U}) tasks[changed] = TaskState::leased;

  const TaskMap map = map_of(tasks, std::vector<std::uint32_t>{3, 4, 5, 40});
  ASSERT_TRUE(apply(map, read).has_value());

  EXPECT_THAT(map.first, ElementsAre(3, 40));
  EXPECT_THAT(map.count, ElementsAre(3, 1));
  EXPECT_EQ(map.state, "ll");
  EXPECT_EQ(read, tasks);
}

TEST(TaskMap, OfAHundredThousandTasksStaysSmall) {
  constexpr std::size_t count = 100'000;
  const auto worst = random_tasks(count, 7);
  std::vector<TaskState> usual(count, TaskState::waiting);
  std::fill(usual.begin(), usual.begin() + 40'000, TaskState::accepted);

  Snapshot scattered;
  scattered.jobs.emplace_back().map = map_of(worst);
  Snapshot ordered;
  ordered.jobs.emplace_back().map = map_of(usual);

  EXPECT_LT(encode(scattered).size(), 70'000U);
  EXPECT_LT(encode(ordered).size(), 1'000U);
}

TEST(TaskMap, ThatIsNoneOfTheseTasksIsRefused) {
  std::vector<TaskState> tasks(10);

  EXPECT_FALSE(apply({.first = {8}, .count = {3}, .state = "a", .packed = {}}, tasks).has_value());
  EXPECT_FALSE(
      apply({.first = {0xffffffff}, .count = {2}, .state = "a", .packed = {}}, tasks).has_value());
  EXPECT_FALSE(apply({.first = {1}, .count = {}, .state = "a", .packed = {}}, tasks).has_value());
  EXPECT_FALSE(apply({.first = {1}, .count = {1}, .state = "x", .packed = {}}, tasks).has_value());
  EXPECT_FALSE(apply({.first = {}, .count = {}, .state = {}, .packed = "AAAA"}, tasks).has_value());
  EXPECT_FALSE(
      apply({.first = {}, .count = {}, .state = {}, .packed = "//////8="}, tasks).has_value());
}

TEST(Watch, ReadsWhatItWrites) {
  Delta delta;
  delta.sequence = 7;
  delta.left = {3, 4};
  delta.jobs.emplace_back().id = "a\x01\"b";
  delta.loads.number = {1};
  delta.loads.round_trip_ms = {2.5};

  const auto read = decode_delta(encode(delta));

  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->sequence, 7U);
  EXPECT_THAT(read->left, ElementsAre(3, 4));
  EXPECT_EQ(read->jobs.at(0).id, "a\x01\"b");
  EXPECT_THAT(read->loads.round_trip_ms, ElementsAre(2.5));
  EXPECT_FALSE(decode_snapshot(encode(delta)).has_value());
}

TEST(Watch, TakesNothingFromAWatcherButWhatItHasSeen) {
  EXPECT_EQ(decode_seen(encode(Seen{.sequence = 12}))->sequence, 12U);
  for (const char* text :
       {"", "{", "[]", "{}", R"({"type":"seen"})", R"({"type":"seen","sequence":-1})",
        R"({"type":"seen","sequence":1.5})", R"({"type":"seen","sequence":1,"more":1})",
        R"({"type":"heard","sequence":1})", R"({"type":"seen","sequence":1}x)"}) {
    EXPECT_FALSE(decode_seen(text).has_value()) << text;
  }
  EXPECT_EQ(decode_seen(std::string(seen_bytes_max + 1, ' ')).error().code,
            ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace weft::protocol::watch
