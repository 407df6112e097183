// Measures how fast a GPU is, with small kernels, for the capability report and `weft bench gpu`.
//
// Times are measured by the GPU's timestamps if it has them, else by the wall clock around submit
// and wait. Threading: the device's thread. Lifetime: the device outlives a Meter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/gpu/timer.h"

namespace weft::gpu {

struct Timing {
  double gpu_seconds = 0;
  double record_seconds = 0;  // The CPU time of recording the pass.
  double submit_seconds = 0;  // CPU time of finishing the commands and submitting them.
  double wall_seconds = 0;    // The time from the first recorded command to the end of the work.
};

class Meter {
 public:
  struct Options {
    double busy_seconds = 0.01;  // The work is repeated until it keeps the GPU busy for this long.
    std::uint32_t rounds = 3;    // The result is the median of this many rounds.
    std::uint32_t repetitions_max = 1 << 16;
  };
  explicit Meter(Device& device) : device_(device), timer_(device) {}

  [[nodiscard]] bool by_timestamps() const { return timer_.available(); }
  // Records `work` into one pass of one submit, waits for it and measures its times.
  [[nodiscard]] Async<Result<Timing>> time(std::function<void(Pass&)> work);
  // The GPU seconds that one call of `work` takes if it is repeated.
  [[nodiscard]] Async<Result<double>> seconds_each(std::function<void(Pass&)> work,
                                                   Options options);

 private:
  Device& device_;
  PassTimer timer_;
};

// A pipeline with its own buffers, ready to be run, and the bytes and operations of one run.
struct Workload {
  Pipeline pipeline;
  std::vector<Buffer> buffers;
  // The groups are used in turn, so that caches do not hold the data.
  std::vector<BindGroup> groups;
  Workgroups workgroups;
  double bytes = 0;       // Bytes that one run reads and writes.
  double operations = 0;  // The number of multiplications and additions of one run.

  // Records one run, with the next bind group.
  void run(Pass& pass);

 private:
  std::size_t next_group_ = 0;
};

enum class Arithmetic : std::uint8_t { f32, f16, int8_dot };
[[nodiscard]] std::string_view to_string(Arithmetic arithmetic);
// True if the device supports this arithmetic.
[[nodiscard]] bool has(const Device& device, Arithmetic arithmetic);

// A kernel that copies `bytes` bytes from one buffer to another.
[[nodiscard]] Async<Result<Workload>> create_copy(Device& device, std::uint64_t bytes);
// A kernel that only computes multiply-adds in registers, independent of each other, with enough
// threads to keep the whole GPU busy.
[[nodiscard]] Async<Result<Workload>> create_peak(Device& device, Arithmetic arithmetic);

}  // namespace weft::gpu
