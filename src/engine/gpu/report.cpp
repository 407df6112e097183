#include "engine/gpu/report.h"

#include <algorithm>

#include "engine/gpu/backend.h"
#include "engine/gpu/measure.h"

namespace weft::gpu {
namespace {

constexpr Meter::Options quick = {.busy_seconds = 0.01, .rounds = 3};

Async<Result<double>> operations_per_second(Device& device, Meter& meter, Arithmetic arithmetic) {
  WEFT_CO_ASSIGN(Workload peak, co_await create_peak(device, arithmetic));
  WEFT_CO_ASSIGN(const double each,
                 co_await meter.seconds_each([&peak](Pass& pass) { peak.run(pass); }, quick));
  co_return peak.operations / each;
}

}  // namespace

std::uint64_t copy_bytes_to_measure(const Device& device) {
  // The largest GPU caches hold about 50 MiB; a software GPU has the CPU's caches and is slow.
  const std::uint64_t wanted = std::uint64_t{device.adapter().kind == AdapterKind::cpu ? 16U : 128U}
                               << 20;
  return std::min(
      {wanted, device.limits().storage_binding_bytes_max, device.limits().buffer_bytes_max});
}

Async<Result<Report>> measure(Device& device) {
  Report report;
  report.adapter = device.adapter();
  report.limits = device.limits();
  report.features = device.backend().description().features;
  Meter meter(device);
  report.by_timestamps = meter.by_timestamps();
  // Arithmetic is measured first, because it raises the GPU's clocks.
  WEFT_CO_ASSIGN(report.f32_operations_per_second,
                 co_await operations_per_second(device, meter, Arithmetic::f32));
  if (has(device, Arithmetic::int8_dot)) {
    WEFT_CO_ASSIGN(report.int8_operations_per_second,
                   co_await operations_per_second(device, meter, Arithmetic::int8_dot));
  }
  WEFT_CO_ASSIGN(Workload copy, co_await create_copy(device, copy_bytes_to_measure(device)));
  WEFT_CO_ASSIGN(const double each,
                 co_await meter.seconds_each([&copy](Pass& pass) { copy.run(pass); }, quick));
  report.copy_bytes_per_second = copy.bytes / each;
  co_return report;
}

}  // namespace weft::gpu
