// What a device is and can do, measured in a moment: for the worker's registration and `weft
// bench`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace weft::gpu {

struct Report {
  AdapterInfo adapter;
  Limits limits;                      // The device's limits.
  std::vector<std::string> features;  // Enabled on the device.
  bool by_timestamps = false;         // Whether the rates come from the GPU's own clock.
  double copy_bytes_per_second = 0;   // Read and written, by a kernel, beyond what caches hold.
  double f32_operations_per_second = 0;
  std::optional<double> int8_operations_per_second;  // Where dot4I8Packed exists.
};

// Takes about a third of a second. Fails with device_lost, or as pipelines do.
[[nodiscard]] Async<Result<Report>> measure(Device& device);
// How large a copy has to be to measure memory rather than caches.
[[nodiscard]] std::uint64_t copy_bytes_to_measure(const Device& device);

}  // namespace weft::gpu
