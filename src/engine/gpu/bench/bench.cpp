#include "engine/gpu/bench/bench.h"

#include <algorithm>
#include <array>

#include "common/base/clock.h"
#include "common/base/format.h"
#include "engine/gpu/upload.h"

namespace weft::gpu::bench {
namespace {

constexpr std::array arithmetics = {Arithmetic::f32, Arithmetic::f16, Arithmetic::int8_dot};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

constexpr std::string_view bump = R"(
@group(0) @binding(0) var<storage, read_write> value: array<u32>;
@compute @workgroup_size(1) fn main() { value[0] += 1; }
)";

class Bench {
 public:
  Bench(Device& device, Options options)
      : device_(device),
        options_(std::move(options)),
        meter_(device),
        software_(device.adapter().kind == AdapterKind::cpu) {}

  Async<Result<Results>> run() {
    results_.adapter = device_.adapter();
    results_.by_timestamps = meter_.by_timestamps();
    step("warming up");
    WEFT_CO_OK(co_await warm_up());
    for (const Arithmetic arithmetic : arithmetics) {
      if (has(device_, arithmetic)) WEFT_CO_OK(co_await peak(arithmetic));
    }
    step("copy");
    {
      WEFT_CO_ASSIGN(Workload work, co_await create_copy(device_, copy_bytes_to_measure(device_)));
      WEFT_CO_ASSIGN(const double each, co_await seconds_each(work));
      results_.copy_bytes_per_second = work.bytes / each;
    }
    step("dispatch");
    WEFT_CO_OK(co_await dispatch());
    step("readback");
    WEFT_CO_OK(co_await readback());
    step("upload");
    WEFT_CO_OK(co_await upload());
    for (const bool is_product : {false, true}) {
      for (const Shape& shape : shapes(is_product)) {
        for (const Arithmetic arithmetic : arithmetics) {
          if (has(device_, arithmetic)) WEFT_CO_OK(co_await matrix(is_product, arithmetic, shape));
        }
      }
    }
    co_return std::move(results_);
  }

 private:
  // The shapes of the layers and the output matrix of a 1B model; a software GPU gets shapes that
  // it computes quickly.
  [[nodiscard]] std::vector<Shape> shapes(bool is_product) const {
    if (software_)
      return is_product ? std::vector<Shape>{{128, 128, 128}, {256, 256, 256}}
                        : std::vector<Shape>{{1, 512, 512}, {1, 2048, 512}};
    if (is_product) return {{512, 2048, 2048}, {512, 16384, 2048}, {2048, 2048, 2048}};
    return {{1, 2048, 2048}, {1, 16384, 2048}, {1, 2048, 8192}, {1, 128256, 2048}};
  }

  void step(std::string_view name) {
    std::size_t kinds = 0;
    for (const Arithmetic arithmetic : arithmetics) kinds += has(device_, arithmetic) ? 1 : 0;
    const std::size_t total = 5 + kinds * (1 + shapes(false).size() + shapes(true).size());
    if (options_.progress) options_.progress(name, done_, total);
    ++done_;
  }

  Async<Result<double>> seconds_each(Workload& work) {
    return meter_.seconds_each([&work](Pass& pass) { work.run(pass); },
                               {.busy_seconds = 0.02, .rounds = options_.rounds});
  }

  Async<Result<>> warm_up() {
    WEFT_CO_ASSIGN(Workload work, co_await create_peak(device_, Arithmetic::f32));
    const Instant end = now() + std::chrono::duration_cast<Duration>(
                                    std::chrono::duration<double>(options_.warm_up_seconds));
    while (now() < end) WEFT_CO_OK(co_await meter_.time([&work](Pass& pass) { work.run(pass); }));
    co_return Result<>{};
  }

  Async<Result<>> peak(Arithmetic arithmetic) {
    step(weft::format("peak {}", to_string(arithmetic)));
    WEFT_CO_ASSIGN(Workload work, co_await create_peak(device_, arithmetic));
    WEFT_CO_ASSIGN(const double each, co_await seconds_each(work));
    results_.peaks.push_back({arithmetic, work.operations / each});
    co_return Result<>{};
  }

  Async<Result<>> dispatch() {
    std::vector<Pipeline> pipelines;
    std::vector<BindGroup> groups;
    const Buffer buffer = device_.create_buffer({.size = 16, .usage = BufferUsage::storage});
    for (const char* label : {"bump a", "bump b"}) {
      WEFT_CO_ASSIGN(Pipeline made,
                     co_await device_.create_pipeline({.wgsl = std::string(bump),
                                                       .label = label,
                                                       .groups = {{{0, BindingKind::storage}}}}));
      pipelines.push_back(std::move(made));
      groups.push_back(device_.create_bind_group(pipelines.back(), 0, {{0, buffer}}));
    }
    const std::uint32_t count = software_ ? 1000 : 10'000;
    std::vector<double> gpu;
    std::vector<double> record;
    std::vector<double> submit;
    for (std::uint32_t round = 0; round <= options_.rounds; ++round) {
      WEFT_CO_ASSIGN(const Timing timing, co_await meter_.time([&](Pass& pass) {
        for (std::uint32_t i = 0; i < count; ++i) pass.run(pipelines[i % 2], {&groups[i % 2]}, {1});
      }));
      if (round == 0) continue;
      gpu.push_back(timing.gpu_seconds / count);
      record.push_back(timing.record_seconds / count);
      submit.push_back(timing.submit_seconds / count);
    }
    results_.dispatch = {count, median(gpu), median(record), median(submit)};
    co_return Result<>{};
  }

  Async<Result<>> readback() {
    WEFT_CO_ASSIGN(const Pipeline pipeline,
                   co_await device_.create_pipeline(
                       {.wgsl = std::string(bump), .groups = {{{0, BindingKind::storage}}}}));
    const Buffer buffer = device_.create_buffer(
        {.size = 16, .usage = BufferUsage::storage | BufferUsage::copy_source});
    const Buffer staging = device_.create_buffer(
        {.size = 16, .usage = BufferUsage::map_read | BufferUsage::copy_destination});
    const BindGroup group = device_.create_bind_group(pipeline, 0, {{0, buffer}});
    std::array<std::uint8_t, 16> bytes{};
    std::vector<double> times;
    for (int i = 0; i < 51; ++i) {
      const Instant begin = now();
      Encoder encoder = device_.create_encoder();
      encoder.begin_pass().run(pipeline, {&group}, {1});
      encoder.copy(buffer, 0, staging, 0, 16);
      device_.submit(std::move(encoder));
      WEFT_CO_OK(co_await device_.read(staging, 0, bytes));
      if (i > 0) times.push_back(seconds(now() - begin));
    }
    results_.readback_seconds = median(times);
    co_return Result<>{};
  }

  Async<Result<>> upload() {
    const ByteVector bytes(std::size_t{software_ ? 16U : 64U} << 20, 7);
    const Buffer buffer = device_.create_buffer(
        {.size = bytes.size(), .usage = BufferUsage::storage | BufferUsage::copy_destination});
    std::vector<double> times;
    for (std::uint32_t round = 0; round <= options_.rounds; ++round) {
      const Instant begin = now();
      Uploader uploader(device_);
      WEFT_CO_OK(co_await uploader.write(buffer, 0, bytes));
      WEFT_CO_OK(co_await uploader.finish());
      if (round > 0) times.push_back(seconds(now() - begin));
    }
    results_.upload_bytes_per_second = static_cast<double>(bytes.size()) / median(times);
    co_return Result<>{};
  }

  Async<Result<>> matrix(bool is_product, Arithmetic arithmetic, Shape shape) {
    step(weft::format("{} {} {}x{}x{}", is_product ? "matmul" : "matvec", to_string(arithmetic),
                      shape.m, shape.n, shape.k));
    // The weights are several times as large as any cache, as those of a model are.
    const std::uint64_t resident = std::uint64_t{software_ ? 16U : 256U} << 20;
    Result<Workload> made = is_product
                                ? co_await create_matmul(device_, arithmetic, shape)
                                : co_await create_matvec(device_, arithmetic, shape, resident);
    if (!made && made.error().code == ErrorCode::unsupported) co_return Result<>{};
    if (!made) co_return pass(std::move(made));
    WEFT_CO_ASSIGN(const double each, co_await seconds_each(*made));
    MatrixRate rate{
        .is_product = is_product, .arithmetic = arithmetic, .shape = shape, .seconds = each};
    rate.bytes_per_second = made->bytes / each;
    rate.operations_per_second = made->operations / each;
    rate.of_copy_bandwidth = rate.bytes_per_second / results_.copy_bytes_per_second;
    const auto peak = std::ranges::find(results_.peaks, arithmetic, &Peak::arithmetic);
    if (peak != results_.peaks.end())
      rate.of_peak = rate.operations_per_second / peak->operations_per_second;
    results_.matrices.push_back(rate);
    co_return Result<>{};
  }

  Device& device_;
  const Options options_;
  Meter meter_;
  const bool software_;
  std::size_t done_ = 0;
  Results results_;
};

}  // namespace

Async<Result<Results>> run_bench(Device& device, Options options) {
  Bench bench(device, std::move(options));
  co_return co_await bench.run();
}

}  // namespace weft::gpu::bench
