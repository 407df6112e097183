// Small functions that the checks share.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "common/base/format.h"
#include "engine/gpu/device.h"

// A Check with the name of its function.
#define WEFT_CHECK(name) \
  Check { #name, name }

namespace weft::gpu::conformance {

using Words = std::vector<std::uint32_t>;

inline constexpr auto io_usage =
    BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination;
inline constexpr auto readback_usage = BufferUsage::map_read | BufferUsage::copy_destination;

[[nodiscard]] inline Words counting(std::size_t count) {
  Words words(count);
  std::iota(words.begin(), words.end(), 0U);
  return words;
}

[[nodiscard]] inline Buffer upload(Device& device, const Words& words,
                                   BufferUsage usage = io_usage) {
  Buffer buffer = device.create_buffer({.size = words.size() * 4, .usage = usage});
  device.write(buffer, 0, as_bytes(std::span<const std::uint32_t>(words)));
  return buffer;
}

// Copies the first `count` words of a buffer to the CPU.
[[nodiscard]] inline Async<Result<Words>> download(Device& device, const Buffer& buffer,
                                                   std::size_t count) {
  const Buffer staging = device.create_buffer({.size = count * 4, .usage = readback_usage});
  Encoder encoder = device.create_encoder("download");
  encoder.copy(buffer, 0, staging, 0, count * 4);
  device.submit(std::move(encoder));
  Words words(count);
  WEFT_CO_OK(
      co_await device.read(staging, 0, {reinterpret_cast<std::uint8_t*>(words.data()), count * 4}));
  co_return words;
}

inline void run_once(Device& device, const Pipeline& pipeline,
                     std::initializer_list<const BindGroup*> groups, Workgroups workgroups) {
  Encoder encoder = device.create_encoder("once");
  encoder.begin_pass().run(pipeline, groups, workgroups);
  device.submit(std::move(encoder));
}

[[nodiscard]] inline Result<> expect(bool condition, std::string_view what) {
  if (condition) return {};
  return fail(ErrorCode::internal, "{}", what);
}

template <class T>
[[nodiscard]] Result<> expect_equal(const T& actual, const T& expected, std::string_view what) {
  if (actual == expected) return {};
  return fail(ErrorCode::internal, "{} is {}, not {}", what, actual, expected);
}

[[nodiscard]] inline Result<> expect_words(const Words& actual, const Words& expected,
                                           std::string_view what) {
  WEFT_OK(expect_equal(actual.size(), expected.size(), weft::format("the length of {}", what)));
  for (std::size_t i = 0; i < actual.size(); ++i)
    WEFT_OK(expect_equal(actual[i], expected[i], weft::format("{}[{}]", what, i)));
  return {};
}

}  // namespace weft::gpu::conformance
