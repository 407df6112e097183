#include <array>

#include "common/base/format.h"
#include "engine/gpu/backend.h"
#include "engine/gpu/conformance/conformance.h"
#include "engine/gpu/conformance/tools.h"

namespace weft::gpu::conformance {
namespace {

const std::vector<GroupLayout> one_storage = {{{0, BindingKind::storage}}};

Async<Result<>> copies_bytes_between_offsets(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  const Buffer source = upload(*device, counting(64));
  const Buffer target = device->create_buffer({.size = 256, .usage = readback_usage});
  Encoder encoder = device->create_encoder();
  encoder.copy(source, 16, target, 64, 32);
  encoder.clear(source, 0, 16);
  encoder.copy(source, 0, target, 128, 32);
  device->submit(std::move(encoder));
  Words words(24);
  WEFT_CO_OK(
      co_await device->read(target, 64, {reinterpret_cast<std::uint8_t*>(words.data()), 96}));
  Words expected(24);
  for (std::uint32_t i = 0; i < 8; ++i) expected[i] = i + 4;
  for (std::uint32_t i = 0; i < 4; ++i) expected[20 + i] = i + 4;
  co_return expect_words(words, expected, "the copy");
}

Async<Result<>> new_buffers_are_zero(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  {
    const Buffer used = upload(*device, Words(4096, 0xdeadbeef));
    WEFT_CO_OK(co_await device->idle());
  }
  const Buffer fresh = device->create_buffer({.size = 16384, .usage = io_usage});
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, fresh, 4096));
  co_return expect_words(words, Words(4096), "a new buffer");
}

constexpr std::string_view add_step = R"(
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
override step: u32 = 1;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&values)) { values[id.x] += step; }
}
)";

Async<Result<>> runs_thousands_of_dependent_dispatches_in_one_pass_and_submit(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  WEFT_CO_ASSIGN(
      const Pipeline pipeline,
      co_await device->create_pipeline(
          {.wgsl = std::string(add_step), .groups = one_storage, .constants = {{"step", 3}}}));
  const Buffer buffer = upload(*device, counting(1000));
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  Encoder encoder = device->create_encoder("many");
  {
    Pass pass = encoder.begin_pass("many");
    for (int i = 0; i < 5000; ++i) pass.run(pipeline, {&group}, {16});
  }
  device->submit(std::move(encoder));
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, buffer, 1000));
  for (std::uint32_t i = 0; i < 1000; ++i) WEFT_CO_OK(expect_equal(words[i], i + 15000, "a value"));
  co_return Result<>{};
}

constexpr std::string_view three_kinds = R"(
struct Numbers { factor: u32, offset: u32 }
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(5) var<storage, read_write> output: array<u32>;
@group(2) @binding(1) var<uniform> numbers: Numbers;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
  output[id.x] = input[id.x] * numbers.factor + numbers.offset + id.y;
}
)";

Async<Result<>> binds_uniforms_and_parts_of_buffers_in_several_groups(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  const std::vector<GroupLayout> groups = {
      {{0, BindingKind::storage_read}, {5, BindingKind::storage}}, {}, {{1, BindingKind::uniform}}};
  WEFT_CO_ASSIGN(
      const Pipeline pipeline,
      co_await device->create_pipeline({.wgsl = std::string(three_kinds), .groups = groups}));
  const Buffer input = upload(*device, counting(128));
  const Buffer output = device->create_buffer({.size = 16, .usage = io_usage});
  const Buffer numbers =
      upload(*device, {7, 100}, BufferUsage::uniform | BufferUsage::copy_destination);
  const BindGroup storage =
      device->create_bind_group(pipeline, 0, {{5, output}, {0, input, 256, 16}});
  const BindGroup empty = device->create_bind_group(pipeline, 1, {});
  const BindGroup uniform = device->create_bind_group(pipeline, 2, {{1, numbers}});
  run_once(*device, pipeline, {&storage, &empty, &uniform}, {1});
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, output, 4));
  co_return expect_words(words, {64 * 7 + 100, 65 * 7 + 100, 66 * 7 + 100, 67 * 7 + 100},
                         "the output");
}

constexpr std::string_view two_entries = R"(
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@compute @workgroup_size(1) fn add() { values[0] += 2; }
@compute @workgroup_size(1) fn multiply() { values[0] *= 5; }
)";

Async<Result<>> one_bind_group_serves_pipelines_of_equal_layout(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  WEFT_CO_ASSIGN(const Pipeline add,
                 co_await device->create_pipeline(
                     {.wgsl = std::string(two_entries), .entry = "add", .groups = one_storage}));
  WEFT_CO_ASSIGN(
      const Pipeline multiply,
      co_await device->create_pipeline(
          {.wgsl = std::string(two_entries), .entry = "multiply", .groups = one_storage}));
  const Buffer buffer = upload(*device, {1});
  const BindGroup group = device->create_bind_group(add, 0, {{0, buffer}});
  Encoder encoder = device->create_encoder();
  {
    Pass pass = encoder.begin_pass();
    pass.run(add, {&group}, {1});
    pass.run(multiply, {&group}, {1});
    pass.run(add, {&group}, {1});
  }
  device->submit(std::move(encoder));
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, buffer, 1));
  co_return expect_equal(words[0], 17U, "((1 + 2) * 5) + 2");
}

constexpr std::string_view stray = R"(
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  seen[id.x] = values[id.x * 1048576u + 64u];
  values[id.x + 64u] = 0xffffffffu;
  values[id.x * 268435399u + 64u] = 0xffffffffu;
}
)";

// An access out of bounds may reach another element of its binding, but never memory outside the
// binding.
Async<Result<>> keeps_a_stray_shader_inside_its_bindings(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  WEFT_CO_ASSIGN(const Pipeline pipeline,
                 co_await device->create_pipeline(
                     {.wgsl = std::string(stray),
                      .groups = {{{0, BindingKind::storage}, {1, BindingKind::storage}}}}));
  const Buffer values = upload(*device, Words(192, 7));
  const Buffer seen = device->create_buffer({.size = 256, .usage = io_usage});
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, values, 0, 256}, {1, seen}});
  run_once(*device, pipeline, {&group}, {1});
  WEFT_CO_ASSIGN(const Words after, co_await download(*device, values, 192));
  for (std::size_t i = 64; i < 192; ++i)
    WEFT_CO_OK(expect_equal(after[i], 7U, "a word outside of the binding"));
  WEFT_CO_ASSIGN(const Words read, co_await download(*device, seen, 64));
  for (const std::uint32_t word : read)
    WEFT_CO_OK(expect(word == 0 || word == 7 || word == 0xffffffff,
                      "a stray read sees what is not its own"));
  co_return Result<>{};
}

Async<Result<>> keeps_several_reads_in_flight(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  constexpr std::uint32_t reads = 100;  // More reads than Dawn waits for at once.
  std::vector<Buffer> buffers;
  std::vector<Wait<>> waits;
  std::vector<Words> words(reads, Words(2));
  for (std::uint32_t i = 0; i < reads; ++i) {
    buffers.push_back(upload(*device, {i, i * i}, readback_usage));
    device->backend().read(buffers[i].handle(), 0,
                           {reinterpret_cast<std::uint8_t*>(words[i].data()), 8},
                           waits.emplace_back(device->backend().ready()).completion());
  }
  for (std::uint32_t i = reads; i-- > 0;) {
    WEFT_CO_OK(co_await waits[i]);
    WEFT_CO_OK(expect_words(words[i], {i, i * i}, "a read"));
  }
  co_return Result<>{};
}

Async<Result<>> timestamps_go_up(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  if (!device->has("timestamp-query")) co_return fail(ErrorCode::unsupported, "no timestamp-query");
  WEFT_CO_ASSIGN(
      const Pipeline pipeline,
      co_await device->create_pipeline({.wgsl = std::string(add_step), .groups = one_storage}));
  const Buffer buffer = upload(*device, Words(65536));
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  const QuerySet times = device->create_timestamps(4);
  const Buffer resolved = device->create_buffer(
      {.size = 32, .usage = BufferUsage::query_resolve | BufferUsage::copy_source});
  Encoder encoder = device->create_encoder();
  for (std::uint32_t i = 0; i < 2; ++i) {
    Pass pass = encoder.begin_pass("timed", {&times, 2 * i, 2 * i + 1});
    for (int k = 0; k < 100; ++k) pass.run(pipeline, {&group}, {1024});
  }
  encoder.resolve(times, 0, 4, resolved, 0);
  device->submit(std::move(encoder));
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, resolved, 8));
  const auto at = [&](std::size_t i) {
    return words[2 * i] + (std::uint64_t{words[2 * i + 1]} << 32);
  };
  WEFT_CO_OK(expect(at(0) < at(1) && at(1) <= at(2) && at(2) < at(3),
                    weft::format("times {} {} {} {} go up", at(0), at(1), at(2), at(3))));
  co_return expect(at(3) - at(0) < 60'000'000'000, "times are in nanoseconds");
}

constexpr std::string_view immediate = R"(
requires immediate_address_space;
struct Numbers { a: u32, b: u32 }
var<immediate> numbers: Numbers;
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@compute @workgroup_size(1) fn main() { values[numbers.a] = numbers.b; }
)";

Async<Result<>> immediates_change_between_dispatches(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  if (!device->has("immediate_address_space") || device->limits().immediate_bytes_max < 8)
    co_return fail(ErrorCode::unsupported, "no immediates");
  WEFT_CO_ASSIGN(
      const Pipeline pipeline,
      co_await device->create_pipeline(
          {.wgsl = std::string(immediate), .groups = one_storage, .immediate_bytes = 8}));
  const Buffer buffer = device->create_buffer({.size = 16, .usage = io_usage});
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  Encoder encoder = device->create_encoder();
  {
    Pass pass = encoder.begin_pass();
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::array<std::uint32_t, 2> numbers = {i, 10 + i};
      pass.set_immediates(as_bytes(std::span<const std::uint32_t>(numbers)));
      pass.run(pipeline, {&group}, {1});
    }
  }
  device->submit(std::move(encoder));
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, buffer, 4));
  co_return expect_words(words, {10, 11, 12, 13}, "what immediates wrote");
}

constexpr std::string_view packed_dot = R"(
requires packed_4x8_integer_dot_product;
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@compute @workgroup_size(1) fn main() { values[0] = bitcast<u32>(dot4I8Packed(values[0], values[1])); }
)";

Async<Result<>> multiplies_packed_int8(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  if (!device->has("packed_4x8_integer_dot_product"))
    co_return fail(ErrorCode::unsupported, "no dot4I8Packed");
  WEFT_CO_ASSIGN(
      const Pipeline pipeline,
      co_await device->create_pipeline({.wgsl = std::string(packed_dot), .groups = one_storage}));
  // The packed bytes of (3, 2, -1, -128) and (4, 5, 2, 127).
  const Buffer buffer = upload(*device, {0x80ff0203, 0x7f020504});
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  run_once(*device, pipeline, {&group}, {1});
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, buffer, 1));
  co_return expect_equal(static_cast<std::int32_t>(words[0]), 12 + 10 - 2 - 128 * 127,
                         "the dot product");
}

constexpr std::string_view half = R"(
enable f16;
@group(0) @binding(0) var<storage, read_write> values: array<vec2<f16>>;
@compute @workgroup_size(1) fn main() { values[0] = values[0] * 2.0h + vec2<f16>(1.0h, 0.5h); }
)";

Async<Result<>> computes_in_f16(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  if (!device->has("shader-f16")) co_return fail(ErrorCode::unsupported, "no shader-f16");
  WEFT_CO_ASSIGN(const Pipeline pipeline, co_await device->create_pipeline(
                                              {.wgsl = std::string(half), .groups = one_storage}));
  const Buffer buffer = upload(*device, {0x40003c00});  // The two f16 numbers 1 and 2 in one word.
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  run_once(*device, pipeline, {&group}, {1});
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, buffer, 1));
  co_return expect_equal(words[0], 0x44804200U, "(3, 4.5) in f16");
}

constexpr std::string_view subgroup_sum = R"(
enable subgroups;
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32) {
  let sum = subgroupAdd(1u);
  values[i] = select(0u, size, sum == size);
}
)";

Async<Result<>> subgroups_have_a_size_that_the_adapter_names(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  if (!device->has("subgroups")) co_return fail(ErrorCode::unsupported, "no subgroups");
  WEFT_CO_ASSIGN(
      const Pipeline pipeline,
      co_await device->create_pipeline({.wgsl = std::string(subgroup_sum), .groups = one_storage}));
  const Buffer buffer = upload(*device, Words(64));
  const BindGroup group = device->create_bind_group(pipeline, 0, {{0, buffer}});
  run_once(*device, pipeline, {&group}, {1});
  WEFT_CO_ASSIGN(const Words words, co_await download(*device, buffer, 64));
  const AdapterInfo& adapter = device->adapter();
  for (const std::uint32_t size : words)
    WEFT_CO_OK(expect(size >= adapter.subgroup_size_min && size <= adapter.subgroup_size_max,
                      weft::format("a subgroup has {} members", size)));
  co_return Result<>{};
}

Async<Result<>> moves_many_megabytes_unharmed(Instance& instance) {
  WEFT_CO_ASSIGN(const auto device, co_await instance.create_device({}));
  Words words(std::size_t{6} << 20);
  std::uint32_t state = 1;
  for (std::uint32_t& word : words) word = state = state * 1664525 + 1013904223;
  const Buffer buffer = upload(*device, words);
  WEFT_CO_ASSIGN(const Words back, co_await download(*device, buffer, words.size()));
  co_return expect(back == words, "24 MiB come back as they went");
}

}  // namespace

std::span<const Check> compute_checks() {
  static const std::array checks = {
      WEFT_CHECK(copies_bytes_between_offsets),
      WEFT_CHECK(new_buffers_are_zero),
      WEFT_CHECK(runs_thousands_of_dependent_dispatches_in_one_pass_and_submit),
      WEFT_CHECK(binds_uniforms_and_parts_of_buffers_in_several_groups),
      WEFT_CHECK(one_bind_group_serves_pipelines_of_equal_layout),
      WEFT_CHECK(keeps_a_stray_shader_inside_its_bindings),
      WEFT_CHECK(keeps_several_reads_in_flight),
      WEFT_CHECK(timestamps_go_up),
      WEFT_CHECK(immediates_change_between_dispatches),
      WEFT_CHECK(multiplies_packed_int8),
      WEFT_CHECK(computes_in_f16),
      WEFT_CHECK(subgroups_have_a_size_that_the_adapter_names),
      WEFT_CHECK(moves_many_megabytes_unharmed),
  };
  return checks;
}

}  // namespace weft::gpu::conformance
