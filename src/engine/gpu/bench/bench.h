// `weft bench gpu`: measures what the gpu layer costs and what the device achieves, each rate
// beside the measured ceiling. Results are medians of several rounds after a warm-up (GPUs raise
// their clocks under load).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/gpu/bench/kernels.h"
#include "engine/gpu/report.h"

namespace weft::gpu::bench {

struct Options {
  double warm_up_seconds = 0.5;
  std::uint32_t rounds = 5;
  // Called before each measurement with its name, its index and the number of measurements.
  std::function<void(std::string_view step, std::size_t done, std::size_t total)> progress = {};
};

// The costs of one dispatch of a long pass in which each dispatch waits for the previous one and
// changes pipeline and bind group.
struct DispatchCost {
  std::uint32_t dispatches = 0;
  double gpu_seconds = 0;
  double record_seconds = 0;  // The CPU time of recording.
  double submit_seconds = 0;  // The CPU time of submitting.
};

struct Peak {
  Arithmetic arithmetic = Arithmetic::f32;
  double operations_per_second = 0;
};

struct MatrixRate {
  bool is_product = false;  // True for matrix times matrix, false for matrix times vector.
  Arithmetic arithmetic = Arithmetic::f32;
  Shape shape;
  double seconds = 0;
  double bytes_per_second = 0;
  double operations_per_second = 0;
  double of_copy_bandwidth = 0;  // The rate as a share of the measured copy rate.
  double of_peak = 0;
};

struct Results {
  AdapterInfo adapter;
  bool by_timestamps = false;
  DispatchCost dispatch;
  double copy_bytes_per_second = 0;    // Bytes that a copy in GPU memory reads and writes.
  double upload_bytes_per_second = 0;  // Bytes from this process into GPU memory.
  double readback_seconds = 0;  // The time of a dispatch, a copy of 16 bytes and its readback.
  std::vector<Peak> peaks;
  std::vector<MatrixRate> matrices;
};

// Runs all measurements. Fails with device_lost, or as create_pipeline() does. Shapes that the
// device cannot bind are left out.
[[nodiscard]] Async<Result<Results>> run_bench(Device& device, Options options);

}  // namespace weft::gpu::bench
