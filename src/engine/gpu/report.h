// The properties of a device and its measured rates, for the worker's registration and `weft
// bench`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace weft::gpu {

struct Report {
  AdapterInfo adapter;
  Limits limits;                      // The limits of the device.
  std::vector<std::string> features;  // The enabled features.
  bool by_timestamps = false;         // True if the rates come from the GPU's own clock.
  // Bytes that a kernel reads and writes, of more data than caches hold.
  double copy_bytes_per_second = 0;
  double f32_operations_per_second = 0;
  std::optional<double> int8_operations_per_second;  // Empty if the device lacks dot4I8Packed.
};

// Measures the device, which takes about a third of a second. Fails with device_lost, or as
// create_pipeline() does.
[[nodiscard]] Async<Result<Report>> measure(Device& device);
// The size from which a copy measures memory and not caches.
[[nodiscard]] std::uint64_t copy_bytes_to_measure(const Device& device);

}  // namespace weft::gpu
