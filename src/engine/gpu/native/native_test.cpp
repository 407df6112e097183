// The gpu layer on whatever Vulkan device this machine has (lavapipe without a GPU): the same promises that the browser
// keeps, plus what only Dawn has.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/gpu/native/instance.h"

namespace weft::gpu {
namespace {

constexpr auto io = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination;
constexpr auto readback = BufferUsage::map_read | BufferUsage::copy_destination;

constexpr std::string_view add_one = R"(
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
override step: u32 = 1;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&values)) { values[id.x] += step; }
}
)";

Async<Result<std::vector<std::uint32_t>>> add_many_times(Instance& instance, std::uint32_t times) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  WEFT_CO_ASSIGN(const Pipeline pipeline, co_await device->create_pipeline(
                                              {.wgsl = std::string(add_one), .groups = {{{0, BindingKind::storage}}}, .constants = {{"step", 3}}}));
  std::vector<std::uint32_t> values(1000);
  std::iota(values.begin(), values.end(), 0U);
  const Buffer buffer = device->create_buffer({.size = 4000, .usage = io});
  const Buffer staging = device->create_buffer({.size = 4000, .usage = readback});
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  device->write(buffer, 0, as_bytes(std::span<const std::uint32_t>(values)));
  Encoder encoder = device->create_encoder();
  {
    Pass pass = encoder.begin_pass();
    for (std::uint32_t i = 0; i < times; ++i) pass.run(pipeline, {&group}, {16});
  }
  encoder.copy(buffer, 0, staging, 0, 4000);
  device->submit(std::move(encoder));
  WEFT_CO_OK(co_await device->read(staging, 0, {reinterpret_cast<std::uint8_t*>(values.data()), 4000}));
  co_return values;
}

TEST(Native, RunsManyDependentDispatchesInOnePassAndOneSubmit) {
  const auto instance = native::create_instance();

  const auto values = run(*instance, add_many_times(*instance, 1000));

  ASSERT_TRUE(values.has_value()) << values.error().message;
  for (std::uint32_t i = 0; i < values->size(); ++i) ASSERT_EQ((*values)[i], i + 3000);
}

}  // namespace
}  // namespace weft::gpu
