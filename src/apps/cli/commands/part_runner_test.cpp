// Tests of the devices of the coordinator's verifier: one of this machine, and a second one with
// another driver if the machine has one.
#include "apps/cli/commands/part_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

#include "apps/coordinator/ingest/device_runs.h"
#include "common/manifest/manifest.h"

namespace weft::cli {
namespace {

std::shared_ptr<const coordinator::VerifiedJob> squares() {
  auto job = std::make_shared<coordinator::VerifiedJob>();
  job->shader = R"(
struct Weft { origin: vec3u, extent: vec3u }
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> weft: Weft;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = weft.origin.x + id.x;
  y[id.x] = n * n;
})";
  job->manifest = std::make_shared<const manifest::Manifest>(
      manifest::parse(
          R"({"weft":1,"kind":"wgsl","name":"squares","shader":{"inline":"-"},"entry":"main",
              "bindings":[{"binding":0,"role":"output","type":"u32","shape":[4096],"split_dim":0}],
              "dispatch":[64,1,1],"split":{"axis":"x","tasks":8},
              "verify":{"compare":"exact","replicas":1},"budget":1})")
          .value());
  job->data = {{}};
  return job;
}

ByteVector squares_of(std::uint32_t first, std::uint32_t count) {
  ByteVector bytes;
  for (std::uint32_t n = first; n < first + count; ++n) append_le(bytes, n * n);
  return bytes;
}

const worker::Sandbox::Options child{.program = WEFT_SANDBOX_CHILD, .arguments = {}};
constexpr auto wall_max = std::chrono::seconds(30);

TEST(PartRunner, ComputesAPartOnASecondDeviceOfAnotherVendor) {
  const auto first = make_part_runner(child, drivers_of_browsers());
  const auto ran = first->run(squares(), {.range = {.first = 8, .count = 4}}, wall_max);
  if (!ran) GTEST_SKIP() << ran.error().message;
  EXPECT_EQ(ran->outputs.at(0), squares_of(512, 256));

  const auto second = first->on_another_device();
  if (!second) GTEST_SKIP() << "This machine has one device, of " << first->vendor();

  EXPECT_NE(second->vendor(), first->vendor());
  const auto again = second->run(squares(), {.range = {.first = 8, .count = 4}}, wall_max);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->outputs, ran->outputs);
}

TEST(PartRunner, HasNoSecondDeviceWhereOneDriverIsInstalled) {
  worker::Sandbox::Options one = child;
  for (const auto& driver : drivers_of_browsers()) {
    if (std::filesystem::exists(driver)) one.driver = driver;
  }
  if (one.driver.empty()) GTEST_SKIP() << "Chromium's software driver is not installed.";
  const auto only = make_part_runner(one, {});
  const auto ran = only->run(squares(), {.range = {.first = 0, .count = 1}}, wall_max);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;

  EXPECT_EQ(only->on_another_device(), nullptr);
}

// A job of 20 steps that alternate between two entry points. No step can be cut, because each
// element needs its neighbours.
std::shared_ptr<const coordinator::VerifiedJob> twenty_steps() {
  auto job = std::make_shared<coordinator::VerifiedJob>();
  job->shader = R"(
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64) fn forth(@builtin(global_invocation_id) id: vec3u) {
  y[id.x] = x[id.x] * 5u + x[255u - id.x] + id.x;
}
@compute @workgroup_size(64) fn back(@builtin(global_invocation_id) id: vec3u) {
  x[id.x] = y[(id.x + 1u) % 256u] ^ y[id.x];
})";
  std::string steps;
  for (int i = 0; i < 20; ++i)
    steps += std::string(i == 0 ? "" : ",") + R"({"entry":")" + (i % 2 == 0 ? "forth" : "back") +
             R"(","dispatch":[4]})";
  job->manifest = std::make_shared<const manifest::Manifest>(
      manifest::parse(
          R"({"weft":1,"kind":"wgsl","name":"steps","shader":{"inline":"-"},"steps":[)" + steps +
          R"(],"bindings":[{"binding":0,"role":"inout","type":"u32","shape":[256],"blob":")" +
          Hash().text() + R"("},{"binding":1,"role":"output","type":"u32","shape":[256]}],
              "verify":{"compare":"exact","replicas":1},"budget":1})")
          .value());
  ByteVector data;
  for (std::uint32_t i = 0; i < 256; ++i) append_le(data, i * i);
  job->data = {std::move(data), {}};
  return job;
}

TEST(PartRunner, ComputesTheSameAFewStepsAtATimeAsAtOnce) {
  const auto runner = make_part_runner(child, {});
  const auto job = twenty_steps();
  const manifest::Range whole = manifest::task_range(*job->manifest, 0);
  const auto at_once = runner->run(job, {.range = whole}, wall_max);
  if (!at_once) GTEST_SKIP() << at_once.error().message;
  ASSERT_EQ(at_once->outputs.size(), 2U);

  std::shared_ptr<const std::vector<ByteVector>> state;
  for (std::uint32_t first = 0; first < 20; first += 7) {
    const auto ran = runner->run(job,
                                 {.range = whole,
                                  .step_first = first,
                                  .step_count = std::min(20 - first, 7U),
                                  .state = state},
                                 wall_max);
    ASSERT_TRUE(ran.has_value()) << ran.error().message;
    EXPECT_EQ(ran->outputs == at_once->outputs, first + 7 >= 20);
    state = std::make_shared<const std::vector<ByteVector>>(ran->outputs);
  }
}

TEST(PartRunner, GivesTheVerifierAWholeTaskOfManySteps) {
  const auto job = twenty_steps();
  const manifest::Range whole = manifest::task_range(*job->manifest, 0);
  const auto at_once = make_part_runner(child, {})->run(job, {.range = whole}, wall_max);
  if (!at_once) GTEST_SKIP() << at_once.error().message;
  coordinator::DeviceRuns runs([] { return make_part_runner(child, {}); }, std::chrono::seconds(8));
  coordinator::VerifiedJobs::Known known{
      .id = {}, .job = job, .bytes = 0, .limits = {}, .steps = {}, .costs = {}};

  for (int check = 0; check < 2; ++check) {  // The first check does not know how long a step takes.
    const auto ran = runs.run(known, whole);
    ASSERT_TRUE(ran.has_value()) << ran.error().message;
    EXPECT_EQ(ran->outputs, at_once->outputs);
    EXPECT_GT(ran->seconds, 0);
  }
  EXPECT_GT(known.steps[coordinator::first_device].seconds_each(), 0);
}

// Makes a job of its own with `words` words of data, of which it sums some.
std::shared_ptr<const coordinator::VerifiedJob> sum_of(std::uint32_t mark, std::size_t words) {
  auto job = std::make_shared<coordinator::VerifiedJob>();
  job->shader = R"(
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1) fn main() { y[0] = x[0] + x[arrayLength(&x) - 1]; })";
  job->manifest = std::make_shared<const manifest::Manifest>(
      manifest::parse(
          R"({"weft":1,"kind":"wgsl","name":"sum","shader":{"inline":"-"},"entry":"main",
              "bindings":[{"binding":0,"role":"input","type":"u32","shape":[)" +
          std::to_string(words) + R"(],"blob":")" + Hash().text() + R"("},
                          {"binding":1,"role":"output","type":"u32","shape":[1]}],
              "dispatch":[1,1,1],"verify":{"compare":"exact","replicas":1},"budget":1})")
          .value());
  ByteVector data;
  data.reserve(4 * words);
  for (std::size_t i = 0; i < words; ++i) append_le(data, mark);
  job->data = {std::move(data), {}};
  return job;
}

// Returns the resident memory of all descendants of this process.
std::uint64_t bytes_of_descendants() {
  std::map<int, std::pair<int, std::uint64_t>> processes;  // Parent and resident bytes by process.
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    std::ifstream status(entry.path() / "status");
    int process = 0;
    int parent = 0;
    std::uint64_t kilobytes = 0;
    for (std::string word; status >> word;) {
      if (word == "Pid:") status >> process;
      if (word == "PPid:") status >> parent;
      if (word == "VmRSS:") status >> kilobytes;
    }
    if (process != 0) processes[process] = {parent, kilobytes << 10};
  }
  std::uint64_t sum = 0;
  for (const auto& [process, of] : processes) {
    int above = of.first;
    while (above != 0 && above != getpid() && processes.contains(above))
      above = processes.at(above).first;
    if (above == getpid()) sum += of.second;
  }
  return sum;
}

// Clients send jobs one after the other, each with data that were not paid for. Without a bound
// on bytes the process would keep four jobs of any size.
TEST(PartRunner, TheConfinedProcessKeepsNoMoreDataThanItsBound) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  const auto grown = [&](const PartRunnerBounds& bounds) -> std::optional<std::uint64_t> {
    const auto runner = make_part_runner(child, {}, bounds);
    std::uint64_t first = 0;
    std::uint64_t most = 0;
    for (std::uint32_t mark = 1; mark <= 4; ++mark) {
      const auto ran =
          runner->run(sum_of(mark, 8 * mebibyte), {.range = {.first = 0, .count = 1}}, wall_max);
      if (!ran) return std::nullopt;
      ByteVector sum;
      append_le(sum, 2 * mark);
      EXPECT_EQ(ran->outputs.at(0), sum);
      most = std::max(most, bytes_of_descendants());
      if (mark == 1) first = most;
    }
    return most - first;
  };

  const auto bounded = grown({.sent_bytes_max = 80 * mebibyte});  // Room for two jobs of 32 MiB.
  if (!bounded) GTEST_SKIP() << "This machine has no device.";

  // A process with the bound keeps one job besides the first; a process without it keeps at least
  // two, minus memory that a driver frees.
  EXPECT_LT(*bounded, 56 * mebibyte);
  EXPECT_GT(grown({.sent_bytes_max = UINT64_MAX}).value_or(0), *bounded + 16 * mebibyte)
      << "the attack";
}

}  // namespace
}  // namespace weft::cli
