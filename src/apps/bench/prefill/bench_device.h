// A GPU for measuring kernels: buffers that hold noise, kernels that are compiled concurrently, and
// run times by the GPU's own clock.
//
// Threading: one thread. Lifetime: instance and device outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/native/instance.h"
#include "engine/gpu/timer.h"

namespace weft::kernels {

struct BenchOptions {
  std::uint32_t rows = 512;
  std::uint32_t layers_max = 100;
  std::uint32_t warm_up_ms = 500;
  std::uint32_t shapes_max = 100;
  bool halves = false;  // Passes rows between kernels as f16 if possible.
};

class BenchDevice {
 public:
  BenchDevice(gpu::PumpedInstance& instance, gpu::Device& device, const BenchOptions& options);

  struct Step {
    std::string what;
    const gpu::Pipeline* pipeline = nullptr;
    std::vector<gpu::BindGroup> groups;
    gpu::Workgroups workgroups;
  };

  [[nodiscard]] gpu::Device& device() { return device_; }
  [[nodiscard]] const BenchOptions& options() const { return options_; }
  // The uniform buffer for a pass of options().rows rows of one sequence.
  [[nodiscard]] const gpu::Buffer& size() const { return size_; }

  [[nodiscard]] gpu::Buffer buffer(std::uint64_t bytes);
  template <class T>
  [[nodiscard]] gpu::Buffer upload(const std::vector<T>& values) {
    gpu::Buffer made = buffer(values.size() * sizeof(T));
    device_.write(made, 0, as_bytes(std::span<const T>(values)));
    return made;
  }
  // A buffer of random bytes, so that the GPU draws as much power as with real data.
  [[nodiscard]] gpu::Buffer noise(std::uint64_t bytes);
  // A buffer of f16 scales of about 0.0005.
  [[nodiscard]] gpu::Buffer scales(std::uint64_t bytes);
  [[nodiscard]] gpu::Buffer floats(std::uint64_t count);

  // Compiles all pipelines together, so that the driver can do so concurrently. A pipeline that
  // does not compile is null, and the error is printed.
  [[nodiscard]] std::vector<std::unique_ptr<gpu::Pipeline>> compile(
      const std::vector<gpu::PipelineOptions>& all);

  // Seconds of one run of the steps, the best of three rounds; 0 if the device has no timestamps.
  [[nodiscard]] double best(std::span<const Step> steps, std::uint32_t times);
  void warm_up(std::span<const Step> steps);
  // Measures several ways to do `operations` operations and prints the `shown` fastest.
  void report(std::string_view title, const std::vector<std::vector<Step>>& ways, double operations,
              std::size_t shown);

 private:
  double seconds(std::span<const Step> steps, std::uint32_t times);
  // A buffer of `bytes` bytes, filled with copies of `source`.
  gpu::Buffer filled(std::uint64_t bytes, const gpu::Buffer& source);

  gpu::PumpedInstance& instance_;
  gpu::Device& device_;
  const BenchOptions options_;
  gpu::PassTimer timer_;
  gpu::Buffer noise_, floats_, size_;
};

}  // namespace weft::kernels
