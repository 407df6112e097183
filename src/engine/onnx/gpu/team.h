// WGSL functions that the 64 threads of a workgroup compute together. Every thread must call them,
// and never in a branch that other threads do not take.
#pragma once

#include <string_view>

namespace weft::onnx {

inline constexpr std::string_view team_text =
    "var<workgroup> parts: array<f32, 64>;\n"
    "fn team_sum(value: f32, lane: u32) -> f32 {\n"
    "  parts[lane] = value;\n  workgroupBarrier();\n"
    "  for (var half = 32u; half > 0u; half /= 2u) {\n"
    "    if (lane < half) { parts[lane] += parts[lane + half]; }\n    workgroupBarrier();\n  }\n"
    "  let sum = parts[0];\n  workgroupBarrier();\n  return sum;\n}\n"
    "fn team_max(value: f32, lane: u32) -> f32 {\n"
    "  parts[lane] = value;\n  workgroupBarrier();\n"
    "  for (var half = 32u; half > 0u; half /= 2u) {\n"
    "    if (lane < half) { parts[lane] = max(parts[lane], parts[lane + half]); }\n"
    "    workgroupBarrier();\n  }\n"
    "  let largest = parts[0];\n  workgroupBarrier();\n  return largest;\n}\n"
    "fn team_product(value: f32, lane: u32) -> f32 {\n"
    "  parts[lane] = value;\n  workgroupBarrier();\n"
    "  for (var half = 32u; half > 0u; half /= 2u) {\n"
    "    if (lane < half) { parts[lane] *= parts[lane + half]; }\n    workgroupBarrier();\n  }\n"
    "  let product = parts[0];\n  workgroupBarrier();\n  return product;\n}\n";

inline constexpr std::string_view lowest = "bitcast<f32>(0xff7fffffu)";

}  // namespace weft::onnx
