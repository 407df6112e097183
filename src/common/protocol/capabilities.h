// The capabilities that a worker reports in its hello.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::protocol {

enum class WorkerKind : std::uint8_t { native, browser };
enum class DeviceKind : std::uint8_t { gpu, cpu };

// A worker's own claims. Its rates are its own measurements: they order the queue, and a canary's
// measurement prices its job.
struct Capabilities {
  DeviceKind device = DeviceKind::gpu;
  std::string vendor{};
  std::string architecture{};
  std::string description{};
  std::string backend{};
  std::vector<std::string> features{};
  std::map<std::string, std::uint64_t> limits{};  // The limits, by WebGPU's names.
  std::uint64_t memory_bytes = 0;                 // The memory that tasks may use.
  double copy_gb_per_s = 0;
  double f32_gflop_per_s = 0;
};

// The capabilities as JSON text, in the form of a hello (codec.cpp).
[[nodiscard]] std::string encode(const Capabilities& capabilities);
[[nodiscard]] Result<Capabilities> decode_capabilities(std::string_view text);

}  // namespace weft::protocol
