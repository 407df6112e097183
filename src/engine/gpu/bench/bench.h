// `weft bench gpu`: what the layer costs and what the device gives, each rate beside the ceiling
// that was measured for it. Medians of several rounds after a warm-up (GPUs raise their clocks
// under load).
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
  // Called before each measurement with what it is, and how many there are.
  std::function<void(std::string_view step, std::size_t done, std::size_t total)> progress = {};
};

// Per dispatch of a long pass in which each waits for the one before and changes pipeline and bind
// group.
struct DispatchCost {
  std::uint32_t dispatches = 0;
  double gpu_seconds = 0;
  double record_seconds = 0;  // CPU.
  double submit_seconds = 0;  // CPU.
};

struct Peak {
  Arithmetic arithmetic = Arithmetic::f32;
  double operations_per_second = 0;
};

struct MatrixRate {
  bool is_product = false;  // matrix-matrix, otherwise matrix-vector.
  Arithmetic arithmetic = Arithmetic::f32;
  Shape shape;
  double seconds = 0;
  double bytes_per_second = 0;
  double operations_per_second = 0;
  double of_copy_bandwidth = 0;  // Parts of the measured ceilings.
  double of_peak = 0;
};

struct Results {
  AdapterInfo adapter;
  bool by_timestamps = false;
  DispatchCost dispatch;
  double copy_bytes_per_second = 0;    // GPU memory, read and written.
  double upload_bytes_per_second = 0;  // From this process into GPU memory.
  double readback_seconds = 0;         // Dispatch, copy of 16 bytes, and back.
  std::vector<Peak> peaks;
  std::vector<MatrixRate> matrices;
};

// Fails with device_lost, and as pipelines do. Shapes that a device cannot bind are left out.
[[nodiscard]] Async<Result<Results>> run_bench(Device& device, Options options);

}  // namespace weft::gpu::bench
