// What the coordinator's verifier computes on: a device of this machine, and a second one with
// another driver, where it has one.
#include "apps/cli/commands/part_runner.h"

#include <gtest/gtest.h>

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
  const auto ran = first->run(squares(), {.first = 8, .count = 4}, wall_max);
  if (!ran) GTEST_SKIP() << ran.error().message;
  EXPECT_EQ(ran->outputs.at(0), squares_of(512, 256));

  const auto second = first->on_another_device();
  if (!second) GTEST_SKIP() << "This machine has one device, of " << first->vendor();

  EXPECT_NE(second->vendor(), first->vendor());
  const auto again = second->run(squares(), {.first = 8, .count = 4}, wall_max);
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
  const auto ran = only->run(squares(), {.first = 0, .count = 1}, wall_max);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;

  EXPECT_EQ(only->on_another_device(), nullptr);
}

}  // namespace
}  // namespace weft::cli
