#include "apps/bench/prefill/bench_device.h"

#include <algorithm>
#include <chrono>
#include <print>
#include <utility>

#include "engine/kernels/batch.h"

namespace weft::kernels {

using gpu::Buffer;
using gpu::BufferUsage;
using gpu::Pipeline;

BenchDevice::BenchDevice(gpu::PumpedInstance& instance, gpu::Device& device,
                         const BenchOptions& options)
    : instance_(instance), device_(device), options_(options), timer_(device_) {
  std::vector<std::uint32_t> noise(std::size_t{4} << 20);
  std::mt19937 random(1);
  for (auto& word : noise) word = static_cast<std::uint32_t>(random());
  noise_ = buffer(noise.size() * 4);
  device_.write(noise_, 0, as_bytes(std::span<const std::uint32_t>(noise)));
  std::normal_distribution<float> normal;
  std::vector<float> floats(std::size_t{options_.rows} * 8192);
  for (float& value : floats) value = normal(random);
  floats_ = buffer(floats.size() * 4);
  device_.write(floats_, 0, as_bytes(std::span<const float>(floats)));
  const BatchSize size{.rows = options_.rows, .segments = 1};
  size_ = device_.create_buffer(
      {.size = sizeof size, .usage = BufferUsage::uniform | BufferUsage::copy_destination});
  device_.write(size_, 0, {reinterpret_cast<const std::uint8_t*>(&size), sizeof size});
}

Buffer BenchDevice::buffer(std::uint64_t bytes) {
  return device_.create_buffer(
      {.size = (bytes + 255) / 256 * 256,
       .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination});
}

Buffer BenchDevice::filled(std::uint64_t bytes, const Buffer& source) {
  Buffer made = buffer(bytes);
  gpu::Encoder encoder = device_.create_encoder();
  for (std::uint64_t at = 0; at < made.size(); at += source.size())
    encoder.copy(source, 0, made, at, std::min(source.size(), made.size() - at));
  device_.submit(std::move(encoder));
  return made;
}

Buffer BenchDevice::noise(std::uint64_t bytes) { return filled(bytes, noise_); }

Buffer BenchDevice::scales(std::uint64_t bytes) {
  return upload(std::vector<std::uint32_t>(bytes / 4 + 64, 0x10001000));
}

Buffer BenchDevice::floats(std::uint64_t count) { return filled(count * 4, floats_); }

std::vector<std::unique_ptr<Pipeline>> BenchDevice::compile(
    const std::vector<gpu::PipelineOptions>& all) {
  std::vector<std::unique_ptr<Pipeline>> out(all.size());
  std::size_t left = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    start<Result<Pipeline>>(device_.create_pipeline(all[i]),
                            [&out, &left, &all, i](Result<Pipeline> made) {
                              if (made)
                                out[i] = std::make_unique<Pipeline>(std::move(*made));
                              else
                                std::println("{}: {}", all[i].label, made.error().message);
                              --left;
                            });
  }
  while (left > 0) instance_.poll(std::chrono::milliseconds(100));
  return out;
}

double BenchDevice::seconds(std::span<const Step> steps, std::uint32_t times) {
  gpu::Encoder encoder = device_.create_encoder();
  {
    gpu::Pass pass = encoder.begin_pass("bench", timer_.next("bench"));
    for (std::uint32_t i = 0; i < times; ++i) {
      for (const Step& step : steps) {
        std::vector<const gpu::BindGroup*> groups;
        for (const gpu::BindGroup& group : step.groups) groups.push_back(&group);
        pass.run(*step.pipeline, groups, step.workgroups);
      }
    }
  }
  timer_.record(encoder);
  device_.submit(std::move(encoder));
  const auto measured = gpu::run(instance_, timer_.times());
  return measured && !measured->empty() ? measured->front().seconds() / times : 0;
}

double BenchDevice::best(std::span<const Step> steps, std::uint32_t times) {
  double least = 1e9;
  for (int round = 0; round < 3; ++round) least = std::min(least, seconds(steps, times));
  return least;
}

void BenchDevice::warm_up(std::span<const Step> steps) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.warm_up_ms);
  while (std::chrono::steady_clock::now() < end) (void)seconds(steps, 8);
}

void BenchDevice::report(std::string_view title, const std::vector<std::vector<Step>>& ways,
                         double operations, std::size_t shown) {
  std::vector<std::pair<double, std::string>> times;
  // Raises the GPU's clock, which drops while kernels compile.
  if (!ways.empty()) warm_up(ways.front());
  for (const std::vector<Step>& step : ways) times.emplace_back(best(step, 8), step.front().what);
  std::ranges::sort(times);
  std::println("{}", title);
  for (std::size_t i = 0; i < std::min(shown, times.size()); ++i)
    std::println("  {:7.1f} us {:6.1f} TFLOP/s  {}", times[i].first * 1e6,
                 operations / times[i].first * 1e-12, times[i].second);
}

}  // namespace weft::kernels
