#include "common/manifest/split.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::manifest {

namespace {

const Binding& output_binding(const Manifest& manifest, std::size_t output) {
  for (const Binding& binding : manifest.bindings) {
    if (binding.is_output() && output-- == 0) return binding;
  }
  check(false, "no output of that index");
  return manifest.bindings.front();
}

}  // namespace

std::uint32_t axis_length(const Manifest& manifest) {
  if (manifest.kind == Kind::kernel) return manifest.kernel.m;
  if (manifest.kind == Kind::onnx) return manifest.onnx.items;
  return manifest.steps.front().dispatch[static_cast<std::size_t>(manifest.split.axis)];
}

Range task_range(const Manifest& manifest, std::uint32_t index) {
  const std::uint32_t length = axis_length(manifest);
  const std::uint32_t tasks = manifest.split.tasks;
  check(index < tasks, "no task of that index");
  const std::uint32_t each = length / tasks;
  const std::uint32_t longer = length % tasks;  // Number of tasks that are one workgroup longer.
  return {.first = index * each + std::min(index, longer),
          .count = each + (index < longer ? 1U : 0U)};
}

bool can_cut(const Manifest& manifest) {
  if (manifest.kind == Kind::kernel) return true;
  return std::ranges::all_of(manifest.bindings, [](const Binding& binding) {
    return !binding.is_output() || binding.split_dim.has_value();
  });
}

std::vector<Range> pieces(const Manifest& manifest, Range range, std::uint32_t count_max) {
  if (count_max == 0 || range.count <= count_max || !can_cut(manifest)) return {range};
  std::vector<Range> cut;
  for (std::uint32_t done = 0; done < range.count; done += count_max) {
    cut.push_back({.first = range.first + done, .count = std::min(count_max, range.count - done)});
    if (range.count - done <= count_max) break;  // Subtracts, because a sum could exceed 2^32.
  }
  return cut;
}

Extent output_extent(const Manifest& manifest, std::size_t output, Range range) {
  if (manifest.kind == Kind::kernel) {
    const std::uint64_t row_bytes = std::uint64_t{manifest.kernel.n} * sizeof(std::int32_t);
    return {.offset = range.first * row_bytes, .size = range.count * row_bytes};
  }
  const Binding& binding = output_binding(manifest, output);
  if (!binding.split_dim) return {.offset = 0, .size = binding.bytes()};
  const std::uint64_t workgroup_bytes = binding.bytes() / axis_length(manifest);
  return {.offset = range.first * workgroup_bytes, .size = range.count * workgroup_bytes};
}

std::vector<ByteVector> join(const Manifest& manifest,
                             std::span<const std::vector<ByteVector>> parts) {
  const std::size_t outputs = manifest.output_bytes().size();
  std::vector<ByteVector> joined(outputs);
  for (std::size_t output = 0; output < outputs; ++output) {
    for (const std::vector<ByteVector>& part : parts) {
      check(part.size() == outputs, "a part has an output for each of the job's");
      append(joined[output], part[output]);
    }
  }
  return joined;
}

}  // namespace weft::manifest
