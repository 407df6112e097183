#include "engine/gpu/bench/kernels.h"

#include <algorithm>
#include <string>

#include "common/base/format.h"

namespace weft::gpu::bench {
namespace {

std::string head(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::f16) return "enable f16;\n";
  if (arithmetic == Arithmetic::int8_dot) return "requires packed_4x8_integer_dot_product;\n";
  return "";
}

std::string_view sum_type(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::int8_dot ? "i32" : "f32";
}

// The WGSL for the product of 16 bytes of weights and 16 bytes of the vector, loaded as vec4<u32>.
std::string_view block_product(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f32:
      return "fn product(w: vec4u, x: vec4u) -> f32 { return dot(bitcast<vec4<f32>>(w), "
             "bitcast<vec4<f32>>(x)); }\n";
    case Arithmetic::f16:
      return "fn product(w: vec4u, x: vec4u) -> f32 {\n"
             "  return dot(vec4<f32>(bitcast<vec4<f16>>(w.xy)), "
             "vec4<f32>(bitcast<vec4<f16>>(x.xy))) +\n"
             "         dot(vec4<f32>(bitcast<vec4<f16>>(w.zw)), "
             "vec4<f32>(bitcast<vec4<f16>>(x.zw)));\n}\n";
    case Arithmetic::int8_dot:
      break;
  }
  return "fn product(w: vec4u, x: vec4u) -> i32 {\n"
         "  return dot4I8Packed(w.x, x.x) + dot4I8Packed(w.y, x.y) + dot4I8Packed(w.z, x.z) + "
         "dot4I8Packed(w.w, x.w);\n}\n";
}

constexpr std::uint32_t matvec_workgroup = 128;

// Returns the subgroup size if the device has only one, so that one subgroup can compute each row;
// otherwise 0.
std::uint32_t fixed_subgroup_size(const Device& device) {
  const AdapterInfo& adapter = device.adapter();
  if (!device.has("subgroups") || !device.has("subgroup_id") ||
      adapter.subgroup_size_min != adapter.subgroup_size_max)
    return 0;
  return adapter.subgroup_size_max <= matvec_workgroup ? adapter.subgroup_size_max : 0;
}

std::string matvec_shader(Arithmetic arithmetic, std::uint32_t blocks, std::uint32_t subgroup) {
  const std::string_view sum = sum_type(arithmetic);
  std::string text = head(arithmetic);
  if (subgroup != 0) text = "enable subgroups;\n" + text;
  text +=
      "@group(0) @binding(0) var<storage, read> w: array<vec4u>;\n@group(0) @binding(1) "
      "var<storage, read> x: array<vec4u>;\n";
  text += weft::format("@group(0) @binding(2) var<storage, read_write> y: array<{}>;\n", sum);
  text += block_product(arithmetic);
  if (subgroup != 0) {
    text += weft::format(
        "@compute @workgroup_size({0}) fn main(@builtin(workgroup_id) group: vec3u, "
        "@builtin(num_workgroups) groups: vec3u,\n"
        "    @builtin(subgroup_id) subgroup: u32, @builtin(subgroup_invocation_id) lane: u32) {{\n"
        "  let row = (group.x + group.y * groups.x) * {1}u + subgroup;\n"
        "  var sum = {2}(0);\n"
        "  for (var i = lane; i < {3}u; i += {4}u) {{ sum += product(w[row * {3}u + i], x[i]); }}\n"
        "  let all = subgroupAdd(sum);\n  if (lane == 0u) {{ y[row] = all; }}\n}}\n",
        matvec_workgroup, matvec_workgroup / subgroup, sum, blocks, subgroup);
    return text;
  }
  text += weft::format(
      "var<workgroup> partial: array<{2}, {0}>;\n"
      "@compute @workgroup_size({0}) fn main(@builtin(workgroup_id) group: vec3u, "
      "@builtin(num_workgroups) groups: vec3u,\n"
      "    @builtin(local_invocation_index) lane: u32) {{\n"
      "  let row = group.x + group.y * groups.x;\n"
      "  var sum = {2}(0);\n"
      "  for (var i = lane; i < {1}u; i += {0}u) {{ sum += product(w[row * {1}u + i], x[i]); }}\n"
      "  partial[lane] = sum;\n"
      "  for (var half = {0}u / 2u; half > 0u; half /= 2u) {{\n"
      "    workgroupBarrier();\n    if (lane < half) {{ partial[lane] += partial[lane + half]; "
      "}}\n  }}\n"
      "  if (lane == 0u) {{ y[row] = partial[0]; }}\n}}\n",
      matvec_workgroup, blocks, sum);
  return text;
}

// Computes tiles of 64 x 64 results, 4 x 4 for each invocation; 16 words of k are in workgroup
// memory at a time. A word is one f32, two f16 or four int8.
std::string matmul_shader(Arithmetic arithmetic, std::uint32_t n, std::uint32_t k_words) {
  const std::string_view sum = sum_type(arithmetic);
  std::string text = head(arithmetic);
  text +=
      "@group(0) @binding(0) var<storage, read> a: array<vec4u>;\n@group(0) @binding(1) "
      "var<storage, read> b: array<vec4u>;\n";
  text += weft::format("@group(0) @binding(2) var<storage, read_write> c: array<vec4<{}>>;\n", sum);
  switch (arithmetic) {
    case Arithmetic::f32:
      text +=
          "alias Word = f32;\nalias Part = f32;\nfn word(u: u32) -> f32 { return bitcast<f32>(u); "
          "}\n"
          "fn add(p: f32, q: f32, s: f32) -> f32 { return fma(p, q, s); }\nfn whole(p: f32) -> f32 "
          "{ return p; }\n";
      break;
    case Arithmetic::f16:
      text +=
          // The products of one step are summed in f16, and the steps in f32.
          "alias Word = vec2<f16>;\nalias Part = vec2<f16>;\nfn word(u: u32) -> Word { return "
          "bitcast<Word>(u); }\n"
          "fn add(p: Word, q: Word, s: Part) -> Part { return fma(p, q, s); }\nfn whole(p: Part) "
          "-> f32 { return f32(p.x) + f32(p.y); }\n";
      break;
    case Arithmetic::int8_dot:
      text +=
          "alias Word = u32;\nalias Part = i32;\nfn word(u: u32) -> u32 { return u; }\n"
          "fn add(p: u32, q: u32, s: i32) -> i32 { return s + dot4I8Packed(p, q); }\nfn whole(p: "
          "i32) -> i32 { return p; }\n";
      break;
  }
  text += weft::format(R"(
var<workgroup> tile_a: array<array<Word, 68>, 16>;  // [k word][row], padded against bank conflicts.
var<workgroup> tile_b: array<array<Word, 68>, 16>;
@compute @workgroup_size(16, 16) fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32) {{
  var sums: array<array<{0}, 4>, 4>;
  let load_row = index / 4u;
  let load_column = index % 4u;
  let from_a = (group.y * 64u + load_row) * {2}u + load_column;
  let from_b = (group.x * 64u + load_row) * {2}u + load_column;
  for (var step = 0u; step < {2}u; step += 4u) {{
    let wa = a[from_a + step];
    let wb = b[from_b + step];
    for (var i = 0u; i < 4u; i++) {{
      tile_a[load_column * 4u + i][load_row] = word(wa[i]);
      tile_b[load_column * 4u + i][load_row] = word(wb[i]);
    }}
    workgroupBarrier();
    var parts = array<array<Part, 4>, 4>();
    for (var k = 0u; k < 16u; k++) {{
      var pa: array<Word, 4>;
      var pb: array<Word, 4>;
      for (var i = 0u; i < 4u; i++) {{
        pa[i] = tile_a[k][local.y * 4u + i];
        pb[i] = tile_b[k][local.x * 4u + i];
      }}
      for (var i = 0u; i < 4u; i++) {{
        for (var j = 0u; j < 4u; j++) {{ parts[i][j] = add(pa[i], pb[j], parts[i][j]); }}
      }}
    }}
    for (var i = 0u; i < 4u; i++) {{
      for (var j = 0u; j < 4u; j++) {{ sums[i][j] += whole(parts[i][j]); }}
    }}
    workgroupBarrier();
  }}
  for (var i = 0u; i < 4u; i++) {{
    let row = group.y * 64u + local.y * 4u + i;
    c[row * {1}u + group.x * 16u + local.x] = vec4<{0}>(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
  }}
}}
)",
                       sum, n / 4, k_words / 4);
  return text;
}

constexpr auto usage =
    BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination;
const GroupLayout two_in_one_out = {
    {0, BindingKind::storage_read}, {1, BindingKind::storage_read}, {2, BindingKind::storage}};

}  // namespace

std::uint64_t element_bytes(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::f32) return 4;
  return arithmetic == Arithmetic::f16 ? 2 : 1;
}

Async<Result<Workload>> create_matvec(Device& device, Arithmetic arithmetic, Shape shape,
                                      std::uint64_t resident_bytes) {
  const std::uint64_t weights = std::uint64_t{shape.n} * shape.k * element_bytes(arithmetic);
  if (weights > device.limits().storage_binding_bytes_max)
    co_return fail(ErrorCode::unsupported,
                   "A matrix of {} bytes is over this device's binding limit ({}).", weights,
                   device.limits().storage_binding_bytes_max);
  const std::uint32_t subgroup = fixed_subgroup_size(device);
  const auto blocks = static_cast<std::uint32_t>(shape.k * element_bytes(arithmetic) / 16);
  Workload workload;
  WEFT_CO_ASSIGN(workload.pipeline, co_await device.create_pipeline(
                                        {.wgsl = matvec_shader(arithmetic, blocks, subgroup),
                                         .label = "matvec",
                                         .groups = {two_in_one_out}}));
  workload.buffers.push_back(device.create_buffer(
      {.size = shape.k * element_bytes(arithmetic), .usage = usage, .label = "x"}));
  workload.buffers.push_back(
      device.create_buffer({.size = std::uint64_t{4} * shape.n, .usage = usage, .label = "y"}));
  const std::uint64_t copies = std::clamp<std::uint64_t>(resident_bytes / weights, 1, 64);
  for (std::uint64_t i = 0; i < copies; ++i) {
    workload.buffers.push_back(
        device.create_buffer({.size = weights, .usage = usage, .label = "weights"}));
    workload.groups.push_back(device.create_bind_group(
        workload.pipeline, 0,
        {{0, workload.buffers.back()}, {1, workload.buffers[0]}, {2, workload.buffers[1]}}));
  }
  const std::uint32_t count = shape.n / (subgroup == 0 ? 1 : matvec_workgroup / subgroup);
  std::uint32_t rows = (count + 65534) / 65535;
  while (count % rows != 0) ++rows;  // The grid has exactly one workgroup for each row.
  workload.workgroups = {.x = count / rows, .y = rows};
  workload.bytes = static_cast<double>(weights + shape.k * element_bytes(arithmetic) +
                                       std::uint64_t{4} * shape.n);
  workload.operations = 2.0 * shape.n * shape.k;
  co_return workload;
}

Async<Result<Workload>> create_matmul(Device& device, Arithmetic arithmetic, Shape shape) {
  const std::uint64_t element = element_bytes(arithmetic);
  Workload workload;
  WEFT_CO_ASSIGN(workload.pipeline,
                 co_await device.create_pipeline(
                     {.wgsl = matmul_shader(arithmetic, shape.n,
                                            static_cast<std::uint32_t>(shape.k * element / 4)),
                      .label = "matmul",
                      .groups = {two_in_one_out}}));
  workload.buffers.push_back(device.create_buffer(
      {.size = std::uint64_t{shape.m} * shape.k * element, .usage = usage, .label = "a"}));
  workload.buffers.push_back(device.create_buffer(
      {.size = std::uint64_t{shape.n} * shape.k * element, .usage = usage, .label = "b"}));
  workload.buffers.push_back(device.create_buffer(
      {.size = std::uint64_t{4} * shape.m * shape.n, .usage = usage, .label = "c"}));
  workload.groups.push_back(device.create_bind_group(
      workload.pipeline, 0,
      {{0, workload.buffers[0]}, {1, workload.buffers[1]}, {2, workload.buffers[2]}}));
  workload.workgroups = {.x = shape.n / 64, .y = shape.m / 64};
  for (const Buffer& buffer : workload.buffers)
    workload.bytes += static_cast<double>(buffer.size());
  workload.operations = 2.0 * shape.m * shape.n * shape.k;
  co_return workload;
}

}  // namespace weft::gpu::bench
