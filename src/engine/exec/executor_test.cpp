// A job gives the same bytes for every way of cutting it, and receives all that the manifest
// promises: roles, steps, constants and the weft uniform.
#include "engine/exec/executor.h"

#include <algorithm>
#include <functional>

#include "common/base/format.h"
#include "engine/exec/test_device.h"

namespace weft::exec {
namespace {

using Executing = DeviceTest;

// Row y, column x of a 12 x 8 grid gets 1000 * y + x + bias. A workgroup is 8 x 1, so a task is a
// range of rows.
constexpr std::string_view grid = R"({"weft":1,"kind":"wgsl","name":"grid","shader":{"inline":"
struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;
@group(0) @binding(3) var<uniform> bias: vec2u;
@group(0) @binding(5) var<storage, read_write> out: array<u32>;
override scale: u32 = 1;
@compute @workgroup_size(8, 1)
fn main(@builtin(global_invocation_id) local: vec3u) {
  let id = local + weft.origin;
  out[local.y * 8 + local.x] = scale * (1000 * id.y + id.x) + bias.y;
}"},
"entry":"main","constants":{"scale":2},"dispatch":[1,12],
"bindings":[{"binding":5,"role":"output","type":"u32","shape":[12,8],"split_dim":0},
            {"binding":3,"role":"uniform","type":"u32","shape":[2],"value":[0,7]}],
"split":{"axis":"y","tasks":5}})";

std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

std::vector<std::uint32_t> expected_grid() {
  std::vector<std::uint32_t> values;
  for (std::uint32_t y = 0; y < 12; ++y) {
    for (std::uint32_t x = 0; x < 8; ++x) values.push_back(2 * (1000 * y + x) + 7);
  }
  return values;
}

TEST_F(Executing, GivesTheSameBytesWholeInTasksAndInPieces) {
  const auto grid_job = job(one_line(grid));

  const auto whole = run_whole(grid_job);
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_EQ(elements<std::uint32_t>(whole->outputs.at(0)), expected_grid());
  EXPECT_EQ(whole->dispatches, 1U);
  EXPECT_GT(whole->gpu_seconds, 0);
  for (const std::uint32_t piece : {0U, 1U, 2U, 5U}) {
    const auto joined = run_tasks(grid_job, piece);
    ASSERT_TRUE(joined.has_value()) << joined.error().message;
    EXPECT_EQ(elements<std::uint32_t>(joined->at(0)), expected_grid()) << piece;
  }
  EXPECT_EQ(run_whole(grid_job, 1)->dispatches, 12U);
  EXPECT_TRUE(device->uncaptured_errors().empty());
}

TEST_F(Executing, RunsASubRangeAsAnAuditDoes) {
  const auto part = run_range(job(one_line(grid)), {.range = {.first = 7, .count = 2}});

  ASSERT_TRUE(part.has_value()) << part.error().message;
  const auto all = expected_grid();
  EXPECT_EQ(elements<std::uint32_t>(part->outputs.at(0)),
            std::vector(all.begin() + 7 * 8, all.begin() + 9 * 8));
}

TEST_F(Executing, TellsTheShaderItsExtentAndCutsWhatItStartsFrom) {
  // Every invocation adds its task's origin and extent to its element of `data`. The outputs of the
  // last binding are concatenated.
  const auto split = job(one_line(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"
struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
  data[id.x] += 100 * weft.origin.x + 10 * weft.extent.x;
  seen[0] = arrayLength(&data);
}"},
"entry":"main","dispatch":[3],
"bindings":[{"binding":0,"role":"inout","type":"u32","shape":[6],"value":[1,2,3,4,5,6],"split_dim":0},
            {"binding":1,"role":"output","type":"u32","shape":[2],"combine":"concat"}],
"split":{"axis":"x","tasks":2}})"));

  const auto joined = run_tasks(split);

  ASSERT_TRUE(joined.has_value()) << joined.error().message;
  // Task 0 has two workgroups of two invocations from invocation 0 on; task 1 has one workgroup
  // from invocation 4 on.
  EXPECT_EQ(elements<std::uint32_t>(joined->at(0)),
            (std::vector<std::uint32_t>{21, 22, 23, 24, 415, 416}));
  EXPECT_EQ(elements<std::uint32_t>(joined->at(1)), (std::vector<std::uint32_t>{4, 0, 2, 0}));
}

TEST_F(Executing, RunsStepsInOrderEachSeeingTheOneBefore) {
  const auto steps = job(one_line(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> half: array<f32>;
@group(0) @binding(2) var<storage, read_write> total: array<f32>;
@compute @workgroup_size(1) fn halve(@builtin(global_invocation_id) id: vec3u) { half[id.x] = source[id.x] / 2; }
@compute @workgroup_size(1) fn add() { for (var i = 0u; i < arrayLength(&half); i++) { total[0] += half[i]; } }"},
"steps":[{"entry":"halve","dispatch":[4]},{"entry":"add","dispatch":[1]},{"entry":"add","dispatch":[1]}],
"bindings":[{"binding":0,"role":"input","type":"f32","shape":[4],"value":[1,2,3,4]},
            {"binding":1,"role":"output","type":"f32","shape":[4]},{"binding":2,"role":"output","type":"f32","shape":[1]}],
"verify":{"compare":"exact"}})"));

  const auto output = run_whole(steps);

  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_EQ(elements<float>(output->outputs.at(0)), (std::vector<float>{0.5F, 1, 1.5F, 2}));
  EXPECT_EQ(elements<float>(output->outputs.at(1)), (std::vector<float>{10}));
  EXPECT_EQ(output->dispatches, 3U);
}

TEST_F(Executing, StartsOutputsFromZeroInEveryRunAndPiece) {
  const auto counting = job(one_line(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] += 1; }"},
"entry":"main","dispatch":[4],"bindings":[{"binding":0,"role":"output","type":"u32","shape":[16],"split_dim":0}],"split":{"axis":"x","tasks":1}})"));
  const std::vector<std::uint32_t> ones(16, 1);

  for (int run = 0; run < 2; ++run) {
    const auto output = run_whole(counting, 1);
    ASSERT_TRUE(output.has_value()) << output.error().message;
    EXPECT_EQ(elements<std::uint32_t>(output->outputs.at(0)), ones);
  }
}

TEST_F(Executing, JoinsHalvesOfWhichAPieceFillsNoWord) {
  if (!device->has("shader-f16")) GTEST_SKIP() << "this device has no shader-f16";
  const auto halves =
      job(one_line(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<f16>;
@group(0) @binding(1) var<storage, read> source: array<f16>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = out[id.x] * source[0]; }"},
"entry":"main","dispatch":[5],
"bindings":[{"binding":0,"role":"inout","type":"f16","shape":[5],"value":[1,2,3,4,5],"split_dim":0},{"binding":1,"role":"input","type":"f16","shape":[1],"value":[2]}],
"split":{"axis":"x","tasks":2},"verify":{"compare":"exact"},"requires":{"features":["shader-f16"]}})"));

  for (const std::uint32_t piece : {0U, 1U}) {
    const auto joined = run_tasks(halves, piece);
    ASSERT_TRUE(joined.has_value()) << joined.error().message;
    // The numbers 2, 4, 6, 8 and 10 as f16.
    EXPECT_EQ(elements<std::uint16_t>(joined->at(0)),
              (std::vector<std::uint16_t>{0x4000, 0x4400, 0x4600, 0x4800, 0x4900}));
  }
}

constexpr std::string_view tuned = R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"
override wg: u32 = 1;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(wg)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < arrayLength(&out); i += groups.x * wg) { out[i] = i RESULT; }
}"},
"entry":"main","dispatch":[4],"tune":{"wg":[32,64,1000000]},"bindings":[{"binding":0,"role":"output","type":"u32","shape":[1000]}]})";

TEST_F(Executing, ChoosesAmongTunedOverridesThoseThatTheDeviceTakes) {
  std::string text = one_line(tuned);
  text.replace(text.find("RESULT"), 6, "* 3");

  const auto output = run_whole(job(text));

  ASSERT_TRUE(output.has_value()) << output.error().message;
  std::vector<std::uint32_t> expected(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) expected[i] = 3 * i;
  EXPECT_EQ(elements<std::uint32_t>(output->outputs.at(0)), expected);
}

TEST_F(Executing, RefusesATunedOverrideThatChangesTheResult) {
  std::string text = one_line(tuned);
  text.replace(text.find("RESULT"), 6, "* wg");

  const auto output = run_whole(job(text));

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().message,
            "The job's \"tune\" changes its results: wg=64 gives other bytes than the first "
            "combination.");
}

TEST_F(Executing, RefusesATunedOverrideThatTheShaderDoesNotHave) {
  std::string text = one_line(tuned);
  text.replace(text.find("RESULT"), 6, "");
  text.replace(text.find("\"tune\":{\"wg\""), 12, "\"tune\":{\"gw\"");

  const auto output = run_whole(job(text));

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::invalid_argument);
}

std::string matmul_text(std::uint32_t m, std::uint32_t n, std::uint32_t k, std::uint32_t tasks) {
  const auto matrix = [](std::size_t size, std::uint32_t seed) {
    ByteVector bytes(size);
    for (auto& byte : bytes)
      byte = static_cast<std::uint8_t>((seed = seed * 1664525 + 1013904223) >> 24U);
    return to_base64(bytes);
  };
  return weft::format(
      R"({{"weft":1,"kind":"kernel","kernel":"matmul_i8","name":"m","m":{},"n":{},"k":{},"a":{{"base64":"{}"}},"b":{{"base64":"{}"}},"split":{{"tasks":{}}}}})",
      m, n, k, matrix(std::size_t{m} * k, 1), matrix(std::size_t{k} * n, 2), tasks);
}

TEST_F(Executing, GivesTheSameMatrixProductOnDeviceAndCpuHoweverItIsCut) {
  const auto product = job(matmul_text(300, 21, 50, 2));
  const auto cpu = create_cpu_executor(bounds);
  const auto expected =
      gpu::run(*instance, cpu->run(product, {.range = {.first = 0, .count = 300}}));
  ASSERT_TRUE(expected.has_value()) << expected.error().message;

  for (const std::uint32_t piece : {0U, 1U, 65U}) {
    const auto joined = run_tasks(product, piece);
    ASSERT_TRUE(joined.has_value()) << joined.error().message;
    EXPECT_EQ(joined->at(0), expected->outputs.at(0)) << piece;
  }
}

// A dispatch of one row takes as long as a dispatch of a whole tile of rows. If pieces were smaller
// than a tile, a slow worker would look even slower and would get even smaller pieces.
TEST_F(Executing, CutsAProductIntoWholeTiles) {
  const auto product = job(matmul_text(150, 21, 50, 1));
  const auto dispatches = [&](std::uint32_t piece) {
    const auto output =
        gpu::run(*instance, executor->run(product, {.range = {.first = 0, .count = 150},
                                                    .piece_workgroups_max = piece}));
    return output ? output->dispatches : 0;
  };

  EXPECT_EQ(dispatches(0), 1U);
  EXPECT_EQ(dispatches(1), 3U);
  EXPECT_EQ(dispatches(64), 3U);
  EXPECT_EQ(dispatches(65), 2U);
}

TEST_F(Executing, RunsKernelsOnlyOnTheCpu) {
  const auto refused =
      gpu::run(*instance, create_cpu_executor(bounds)->prepare(job(one_line(grid))));

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
}

TEST_F(Executing, LeavesNothingOnTheDevice) {
  ASSERT_TRUE(run_whole(job(one_line(grid)), 2).has_value());
  ASSERT_TRUE(run_whole(job(matmul_text(5, 6, 7, 1))).has_value());

  EXPECT_EQ(device->buffer_bytes(), 0U);
}

TEST_F(Executing, SaysThatTheDeviceIsLost) {
  const auto grid_job = job(one_line(grid));
  ASSERT_TRUE(run_whole(grid_job).has_value());

  device->destroy();
  const auto lost = run_whole(grid_job);

  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, ErrorCode::device_lost);
}

// A job of sixteen steps on eight cells; each step reads the result of the step before it.
std::shared_ptr<const Job> stepped_job(
    std::string (*line)(std::string_view),
    const std::function<std::shared_ptr<const Job>(std::string_view)>& make) {
  std::string steps;
  for (int i = 0; i < 16; ++i)
    steps += std::string(i == 0 ? "" : ",") + (i % 3 == 0 ? R"({"entry":"mix","dispatch":[2]})"
                                                          : R"({"entry":"turn","dispatch":[1]})");
  return make(line(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"
@group(0) @binding(0) var<storage, read_write> state: array<u32>;
@group(0) @binding(1) var<storage, read_write> log: array<u32>;
@compute @workgroup_size(4)
fn mix(@builtin(global_invocation_id) id: vec3u) { state[id.x] = state[id.x] * 1664525u + 1013904223u + id.x; log[id.x] += 1; }
@compute @workgroup_size(1)
fn turn() { let first = state[0]; for (var i = 0u; i < 7; i++) { state[i] = state[i + 1] ^ (first >> i); } state[7] = first; log[0] += state[3] & 7; }"},
"bindings":[{"binding":0,"role":"inout","type":"u32","shape":[8],"value":[1,2,3,4,5,6,7,8]},{"binding":1,"role":"output","type":"u32","shape":[8]}],
"steps":[)") + steps +
              "]}");
}

TEST_F(Executing, StepsGoOnFromTheStateBeforeThem) {
  const auto stepped = stepped_job(one_line, [](std::string_view text) { return job(text); });
  const auto whole = run_whole(stepped);
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  for (std::uint32_t stop = 1; stop < 16; ++stop) {
    RunOptions first{.range = {.first = 0, .count = manifest::axis_length(stepped->manifest)}};
    first.step_count = stop;
    auto state = run_range(stepped, first);
    ASSERT_TRUE(state.has_value()) << state.error().message;
    RunOptions second = first;
    second.step_first = stop;
    second.step_count = 16 - stop;
    second.state = std::make_shared<const std::vector<ByteVector>>(std::move(state->outputs));

    const auto rest = run_range(stepped, second);

    ASSERT_TRUE(rest.has_value()) << rest.error().message;
    EXPECT_EQ(rest->outputs, whole->outputs) << "stopped after " << stop;
    EXPECT_EQ(rest->dispatches, 16 - stop);
  }
}

TEST_F(Executing, StepsAreRefusedThatAreNotTheJobsOrLackTheirState) {
  const auto stepped = stepped_job(one_line, [](std::string_view text) { return job(text); });
  RunOptions options{.range = {.first = 0, .count = manifest::axis_length(stepped->manifest)}};
  options.step_first = 3;
  options.step_count = 2;
  // The state is missing.
  EXPECT_EQ(run_range(stepped, options).error().code, ErrorCode::invalid_argument);
  options.state = std::make_shared<const std::vector<ByteVector>>(
      std::vector<ByteVector>{ByteVector(32), ByteVector(28)});
  // The second output of the state has 28 bytes instead of 32.
  EXPECT_EQ(run_range(stepped, options).error().code, ErrorCode::invalid_argument);
  options.state = std::make_shared<const std::vector<ByteVector>>(
      std::vector<ByteVector>{ByteVector(32), ByteVector(32)});
  EXPECT_TRUE(run_range(stepped, options).has_value());
  options.step_count = 14;
  // The job has only 13 steps from step 3 on.
  EXPECT_EQ(run_range(stepped, options).error().code, ErrorCode::invalid_argument);
}

// The tasks of several clients run one after another on one device. A task must not find data of
// another task, by any kind of read.
TEST_F(Executing, ATaskFindsNothingThatAnotherLeftOnTheDevice) {
  const auto secret = job(one_line(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"
@group(0) @binding(0) var<storage, read> key: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> shared_: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  shared_[lane] = key[id.x % 64];
  workgroupBarrier();
  out[id.x] = shared_[63 - lane];
}"},"entry":"main","dispatch":[256],
"bindings":[{"binding":0,"role":"input","type":"u32","shape":[64],"value":[)") +
                          [] {
                            std::string values;
                            for (int i = 0; i < 64; ++i)
                              values += (i == 0 ? "" : ",") + std::to_string(3735928559U);
                            return values;
                          }() +
                          R"(]},{"binding":1,"role":"output","type":"u32","shape":[16384]}]})");
  // Returns memory that it has not written: its output, its workgroup memory, and memory past the
  // end of its output.
  const auto spy = job(one_line(R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
var<workgroup> shared_: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  found[id.x] = out[id.x] | shared_[lane] | out[id.x + 16384] | select(0u, 1u, out[id.x + 1000000] == 3735928559u);
}"},"entry":"main","dispatch":[256],
"bindings":[{"binding":1,"role":"output","type":"u32","shape":[16384]},{"binding":2,"role":"output","type":"u32","shape":[16384]}]})"));
  for (int round = 0; round < 8; ++round) {
    const auto written = run_whole(secret);
    ASSERT_TRUE(written.has_value()) << written.error().message;
    ASSERT_EQ(elements<std::uint32_t>(written->outputs.at(0)),
              std::vector<std::uint32_t>(16384, 3735928559U));

    const auto spied = run_whole(spy);

    ASSERT_TRUE(spied.has_value()) << spied.error().message;
    EXPECT_EQ(elements<std::uint32_t>(spied->outputs.at(0)), std::vector<std::uint32_t>(16384, 0))
        << round;
    EXPECT_EQ(elements<std::uint32_t>(spied->outputs.at(1)), std::vector<std::uint32_t>(16384, 0))
        << round;
  }
}

TEST_F(Executing, ARunIsHeldToItsOwnBound) {
  const auto grid_job = job(one_line(grid));
  RunOptions options{.range = {.first = 0, .count = manifest::axis_length(grid_job->manifest)}};
  options.bytes_max = 500;
  EXPECT_EQ(run_range(grid_job, options).error().code, ErrorCode::resource_exhausted);
  options.bytes_max = 5000;
  EXPECT_TRUE(run_range(grid_job, options).has_value());
}

}  // namespace
}  // namespace weft::exec
