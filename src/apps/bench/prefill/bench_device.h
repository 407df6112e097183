// A GPU on which kernels are measured: buffers that hold noise, kernels that are compiled side by
// side, and how long they run by the GPU's own clock.
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
  bool halves = false;  // Rows go from kernel to kernel as f16 where they can.
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
  // The uniform of a pass of options().rows rows of one sequence.
  [[nodiscard]] const gpu::Buffer& size() const { return size_; }

  [[nodiscard]] gpu::Buffer buffer(std::uint64_t bytes);
  template <class T>
  [[nodiscard]] gpu::Buffer upload(const std::vector<T>& values) {
    gpu::Buffer made = buffer(values.size() * sizeof(T));
    device_.write(made, 0, as_bytes(std::span<const T>(values)));
    return made;
  }
  // Random bytes, so that the card draws the power that it would.
  [[nodiscard]] gpu::Buffer noise(std::uint64_t bytes);
  // f16 scales of about 0.0005.
  [[nodiscard]] gpu::Buffer scales(std::uint64_t bytes);
  [[nodiscard]] gpu::Buffer floats(std::uint64_t count);

  // All at once: the driver compiles them side by side. Null for one that does not compile, which
  // is told of.
  [[nodiscard]] std::vector<std::unique_ptr<gpu::Pipeline>> compile(
      const std::vector<gpu::PipelineOptions>& all);

  // Seconds of one run of the steps, the best of three rounds; 0 without timestamps.
  [[nodiscard]] double best(std::span<const Step> steps, std::uint32_t times);
  void warm_up(std::span<const Step> steps);
  // Prints the fastest of several ways, each of `operations`.
  void report(std::string_view title, const std::vector<std::vector<Step>>& ways, double operations,
              std::size_t shown);

 private:
  double seconds(std::span<const Step> steps, std::uint32_t times);
  // A buffer of so many bytes that holds what `source` does, again and again.
  gpu::Buffer filled(std::uint64_t bytes, const gpu::Buffer& source);

  gpu::PumpedInstance& instance_;
  gpu::Device& device_;
  const BenchOptions options_;
  gpu::PassTimer timer_;
  gpu::Buffer noise_, floats_, size_;
};

}  // namespace weft::kernels
