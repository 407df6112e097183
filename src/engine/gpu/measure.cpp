#include "engine/gpu/measure.h"

#include <algorithm>
#include <utility>

#include "common/base/clock.h"
#include "common/base/format.h"

namespace weft::gpu {
namespace {

constexpr std::string_view copy_shader = R"(
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4<u32>>;
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * 256u;
  if (i < arrayLength(&target_)) { target_[i] = source[i]; }
}
)";

// Eight independent chains of multiply-adds hide the latency of one multiply-add.
constexpr std::uint32_t peak_steps = 128;
constexpr std::uint32_t peak_chains = 8;
constexpr std::uint32_t peak_workgroup = 256;

std::string peak_shader(Arithmetic arithmetic) {
  std::string type = "vec4<f32>";
  std::string step = "fma(c{0}, a, b)";
  std::string head;
  std::string first = "vec4<f32>(f32(i) * 1e-6 + {0}.0)";
  std::string last = "u32(dot(sum, vec4<f32>(1.0)))";
  if (arithmetic == Arithmetic::f16) {
    head = "enable f16;\n";
    type = "vec4<f16>";
    first = "vec4<f16>(f16(i & 7u) + {0}.0h)";
    last = "u32(dot(sum, vec4<f16>(1.0h)))";
  }
  if (arithmetic == Arithmetic::int8_dot) {
    head = "requires packed_4x8_integer_dot_product;\n";
    type = "i32";
    step = "c{0} + dot4I8Packed(bitcast<u32>(c{0}), a)";
    first = "i32(i) + {0}";
    last = "u32(sum)";
  }
  const bool integer = arithmetic == Arithmetic::int8_dot;
  std::string text = head + "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n";
  text += weft::format(
      "@compute @workgroup_size({}) fn main(@builtin(global_invocation_id) id: vec3u) {{\n  let i "
      "= id.x;\n",
      peak_workgroup);
  if (integer) {
    text += "  let a = data[0];\n";
  } else {
    text += weft::format(
        "  let a = {0}(bitcast<vec2<f32>>(vec2u(data[0], data[1])).xyxy);\n  let b = "
        "{0}(bitcast<vec2<f32>>(vec2u(data[2], data[3])).xyxy);\n",
        type);
  }
  for (std::uint32_t k = 0; k < peak_chains; ++k)
    text += weft::format("  var c{} = {};\n", k, weft::vformat(first, std::make_format_args(k)));
  text += weft::format("  for (var s = 0u; s < {}u; s++) {{\n", peak_steps);
  for (std::uint32_t k = 0; k < peak_chains; ++k)
    text += weft::format("    c{} = {};\n", k, weft::vformat(step, std::make_format_args(k)));
  text += "  }\n  let sum = c0";
  for (std::uint32_t k = 1; k < peak_chains; ++k) text += weft::format(" + c{}", k);
  // The condition is never true for the data of the bench, so no value is stored. The compiler
  // cannot know the data, so it removes no computation.
  text += weft::format(";\n  if ({} == 0x12345678u) {{ data[i & 3u] = i; }}\n}}\n", last);
  return text;
}

}  // namespace

Async<Result<Timing>> Meter::time(std::function<void(Pass&)> work) {
  Timing timing;
  const Instant begin = now();
  Encoder encoder = device_.create_encoder("measure");
  {
    Pass pass = encoder.begin_pass("measure", timer_.next("measure"));
    work(pass);
  }
  timer_.record(encoder);
  const Instant recorded = now();
  device_.submit(std::move(encoder));
  const Instant submitted = now();
  WEFT_CO_OK(co_await device_.idle());
  const Instant ended = now();
  timing.record_seconds = seconds(recorded - begin);
  timing.submit_seconds = seconds(submitted - recorded);
  timing.wall_seconds = seconds(ended - begin);
  timing.gpu_seconds = seconds(ended - submitted);
  if (timer_.available()) {
    WEFT_CO_ASSIGN(const auto passes, co_await timer_.times());
    // The clock of a browser is coarse and may say 0; the wall clock is then more accurate.
    if (!passes.empty() && passes[0].seconds() > 0) timing.gpu_seconds = passes[0].seconds();
  }
  co_return timing;
}

Async<Result<double>> Meter::seconds_each(std::function<void(Pass&)> work, Options options) {
  std::uint32_t repetitions = 1;
  const auto repeated = [&work, &repetitions](Pass& pass) {
    for (std::uint32_t i = 0; i < repetitions; ++i) work(pass);
  };
  double elapsed = 0;
  while (true) {
    WEFT_CO_ASSIGN(const Timing timing, co_await time(repeated));
    elapsed = timing.gpu_seconds;
    if (elapsed >= options.busy_seconds || repetitions >= options.repetitions_max) break;
    const double factor = elapsed > 0 ? 1.2 * options.busy_seconds / elapsed : 16;
    repetitions = std::min(options.repetitions_max,
                           static_cast<std::uint32_t>(static_cast<double>(repetitions) *
                                                      std::clamp(factor, 1.5, 16.0)) +
                               1);
  }
  std::vector<double> rounds = {elapsed};
  while (rounds.size() < options.rounds) {
    WEFT_CO_ASSIGN(const Timing timing, co_await time(repeated));
    rounds.push_back(timing.gpu_seconds);
  }
  std::ranges::nth_element(rounds, rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2));
  co_return rounds[rounds.size() / 2] / repetitions;
}

void Workload::run(Pass& pass) {
  pass.run(pipeline, {&groups[next_group_]}, workgroups);
  next_group_ = (next_group_ + 1) % groups.size();
}

std::string_view to_string(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f32:
      return "f32";
    case Arithmetic::f16:
      return "f16";
    case Arithmetic::int8_dot:
      break;
  }
  return "int8";
}

bool has(const Device& device, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::f16) return device.has("shader-f16");
  if (arithmetic == Arithmetic::int8_dot) return device.has("packed_4x8_integer_dot_product");
  return true;
}

Async<Result<Workload>> create_copy(Device& device, std::uint64_t bytes) {
  Workload workload;
  WEFT_CO_ASSIGN(workload.pipeline,
                 co_await device.create_pipeline(
                     {.wgsl = std::string(copy_shader),
                      .label = "copy",
                      .groups = {{{0, BindingKind::storage_read}, {1, BindingKind::storage}}}}));
  const std::uint64_t size = std::max<std::uint64_t>(4096, bytes / 4096 * 4096);
  for (int i = 0; i < 2; ++i)
    workload.buffers.push_back(
        device.create_buffer({.size = size, .usage = BufferUsage::storage, .label = "copy"}));
  workload.groups.push_back(device.create_bind_group(
      workload.pipeline, 0, {{0, workload.buffers[0]}, {1, workload.buffers[1]}}));
  const auto count = static_cast<std::uint32_t>(size / 4096);
  const std::uint32_t rows = (count + 32767) / 32768;
  workload.workgroups = {.x = (count + rows - 1) / rows, .y = rows};
  workload.bytes = 2.0 * static_cast<double>(size);
  co_return workload;
}

Async<Result<Workload>> create_peak(Device& device, Arithmetic arithmetic) {
  Workload workload;
  WEFT_CO_ASSIGN(workload.pipeline,
                 co_await device.create_pipeline({.wgsl = peak_shader(arithmetic),
                                                  .label = "peak",
                                                  .groups = {{{0, BindingKind::storage}}}}));
  workload.buffers.push_back(
      device.create_buffer({.size = 16,
                            .usage = BufferUsage::storage | BufferUsage::copy_destination,
                            .label = "peak"}));
  // The numbers a and b of the chains: a = 1 and b = 0 for floats (chains that neither grow nor
  // vanish), and a = 0 for integers.
  const std::array<std::uint32_t, 4> data = {arithmetic == Arithmetic::int8_dot ? 0U : 0x3f800000U,
                                             0x3f800000U, 0, 0};
  device.write(workload.buffers[0], 0, as_bytes(std::span<const std::uint32_t>(data)));
  workload.groups.push_back(
      device.create_bind_group(workload.pipeline, 0, {{0, workload.buffers[0]}}));
  workload.workgroups = {.x = device.adapter().kind == AdapterKind::cpu ? 32U : 8192U};
  const double invocations = static_cast<double>(workload.workgroups.x) * peak_workgroup;
  workload.operations = invocations * peak_steps * peak_chains *
                        8;  // Four multiplications and four additions in a step.
  co_return workload;
}

}  // namespace weft::gpu
