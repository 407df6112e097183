#include "engine/exec/bounds.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/format.h"
#include "engine/kernels/matmul_i8.h"

namespace weft::exec {

namespace {

using manifest::Manifest;
using manifest::Range;

constexpr std::uint64_t weft_uniform_bytes = 32;

struct LimitValue {
  std::string_view name;  // The name of the limit in WebGPU.
  std::uint64_t value;
};

std::optional<std::uint64_t> limit(const gpu::Limits& limits, std::string_view name) {
  const std::array values = {
      LimitValue{"maxBufferSize", limits.buffer_bytes_max},
      LimitValue{"maxStorageBufferBindingSize", limits.storage_binding_bytes_max},
      LimitValue{"maxUniformBufferBindingSize", limits.uniform_binding_bytes_max},
      LimitValue{"maxStorageBuffersPerShaderStage", limits.storage_buffers_per_stage_max},
      LimitValue{"maxUniformBuffersPerShaderStage", limits.uniform_buffers_per_stage_max},
      LimitValue{"maxBindGroups", limits.bind_groups_max},
      LimitValue{"maxComputeWorkgroupStorageSize", limits.workgroup_storage_bytes_max},
      LimitValue{"maxComputeInvocationsPerWorkgroup", limits.workgroup_invocations_max},
      LimitValue{"maxComputeWorkgroupSizeX", limits.workgroup_size_x_max},
      LimitValue{"maxComputeWorkgroupSizeY", limits.workgroup_size_y_max},
      LimitValue{"maxComputeWorkgroupSizeZ", limits.workgroup_size_z_max},
      LimitValue{"maxComputeWorkgroupsPerDimension", limits.workgroups_per_dimension_max},
      LimitValue{"maxImmediateSize", limits.immediate_bytes_max},
  };
  const auto found = std::ranges::find(values, name, &LimitValue::name);
  if (found == values.end()) return std::nullopt;
  return found->value;
}

Result<> check_requirements(const Manifest& manifest, const gpu::Device& device,
                            const Bounds& bounds) {
  for (const std::string& feature : manifest.requirements.features) {
    if (!device.has(feature))
      return fail(ErrorCode::unsupported,
                  "The job requires the feature \"{}\", which this device does not have.", feature);
  }
  for (const auto& [name, least] : manifest.requirements.limits) {
    const auto value = limit(device.limits(), name);
    if (!value)
      return fail(ErrorCode::unsupported,
                  "The job requires the limit \"{}\", which this worker does not know.", name);
    if (*value < least)
      return fail(ErrorCode::unsupported,
                  "The job requires {} to be at least {}; this device has {}.", name, least,
                  *value);
  }
  if (manifest.requirements.memory_bytes > bounds.bytes_max) {
    return fail(ErrorCode::resource_exhausted,
                "The job requires {} bytes of memory; a task may take at most {} (bytes_max).",
                manifest.requirements.memory_bytes, bounds.bytes_max);
  }
  return {};
}

Result<> check_binding_bytes(std::string_view what, std::uint64_t bytes, std::uint64_t device_max,
                             const Bounds& bounds) {
  if (bytes > bounds.binding_bytes_max) {
    return fail(ErrorCode::resource_exhausted,
                "{} takes {} bytes; a binding may take at most {} (binding_bytes_max).", what,
                bytes, bounds.binding_bytes_max);
  }
  if (bytes > device_max)
    return fail(ErrorCode::resource_exhausted, "{} takes {} bytes; this device binds at most {}.",
                what, bytes, device_max);
  return {};
}

Result<> check_bindings(const Job& job, const gpu::Device& device, const Bounds& bounds,
                        const Footprint& taken) {
  const gpu::Limits& limits = device.limits();
  const std::uint64_t storage_max =
      std::min(limits.storage_binding_bytes_max, limits.buffer_bytes_max);
  if (job.manifest.kind == manifest::Kind::kernel) {
    constexpr std::array names = {"Matrix a", "Matrix b", "The result"};
    for (std::size_t i = 0; i < names.size(); ++i)
      WEFT_OK(check_binding_bytes(names[i], taken.binding_bytes[i], storage_max, bounds));
    return {};
  }
  if (job.manifest.kind == manifest::Kind::onnx) {
    for (std::size_t i = 0; i < job.manifest.bindings.size(); ++i) {
      const manifest::Binding& binding = job.manifest.bindings[i];
      const std::string name =
          i == 0 ? "The model" : weft::format("The value \"{}\"", binding.name);
      WEFT_OK(check_binding_bytes(name, taken.binding_bytes[i], bounds.bytes_max, bounds));
    }
    return {};
  }
  std::uint32_t uniforms = 1;  // Counts the weft uniform.
  std::uint32_t storages = 0;
  for (std::size_t i = 0; i < job.manifest.bindings.size(); ++i) {
    const manifest::Binding& binding = job.manifest.bindings[i];
    const bool uniform = binding.role == manifest::Role::uniform;
    ++(uniform ? uniforms : storages);
    const std::string name = weft::format("Binding {}", binding.binding);
    WEFT_OK(check_binding_bytes(name, taken.binding_bytes[i],
                                uniform ? limits.uniform_binding_bytes_max : storage_max, bounds));
  }
  if (storages > limits.storage_buffers_per_stage_max) {
    return fail(ErrorCode::resource_exhausted,
                "The job binds {} storage buffers; this device binds at most {}.", storages,
                limits.storage_buffers_per_stage_max);
  }
  if (uniforms > limits.uniform_buffers_per_stage_max) {
    return fail(ErrorCode::resource_exhausted,
                "The job and Weft itself bind {} uniform buffers; this device binds at most {}.",
                uniforms, limits.uniform_buffers_per_stage_max);
  }
  return {};
}

// Checks the number of dispatches of the range, and the size of each against the device's limit.
Result<> check_dispatches(const Job& job, const gpu::Device& device, const Bounds& bounds,
                          const RunOptions& options) {
  const Manifest& manifest = job.manifest;
  const std::uint32_t most = device.limits().workgroups_per_dimension_max;
  // The dispatches of an onnx job are known only once its model is bound.
  if (manifest.kind == manifest::Kind::onnx) return {};
  const std::size_t steps = manifest.kind == manifest::Kind::kernel ? 1 : manifest.steps.size();
  const bool cut = manifest::can_cut(manifest);
  if (manifest.kind == manifest::Kind::wgsl) {
    for (const manifest::Step& step : manifest.steps) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        // True if the split axis cuts this step, because the job can be cut or has several tasks.
        const bool split = axis == static_cast<std::size_t>(manifest.split.axis) &&
                           (cut || manifest.split.tasks > 1);
        const std::uint32_t length = !split ? step.dispatch[axis] : cut ? 1 : options.range.count;
        if (length > most) {
          return fail(ErrorCode::resource_exhausted,
                      "Step \"{}\" dispatches {} workgroups along {}; this device takes {}.",
                      step.entry, length, manifest::to_string(static_cast<manifest::Axis>(axis)),
                      most);
        }
      }
    }
  }
  const std::uint32_t piece = piece_workgroups(job, device, options.piece_workgroups_max);
  const std::uint64_t pieces =
      cut && piece > 0 ? (std::uint64_t{options.range.count} + piece - 1) / piece : 1;
  if (pieces * steps > bounds.dispatches_max) {
    return fail(ErrorCode::resource_exhausted,
                "The task takes {} dispatches; it may take at most {} (dispatches_max).",
                pieces * steps, bounds.dispatches_max);
  }
  return {};
}

// Checks that all data that the job must bring is present in the size that the manifest states.
Result<> check_data(const Job& job) {
  const Manifest& manifest = job.manifest;
  if (manifest.kind == manifest::Kind::kernel) {
    const manifest::Kernel& kernel = manifest.kernel;
    const std::array wanted = {std::uint64_t{kernel.m} * kernel.k,
                               std::uint64_t{kernel.k} * kernel.n};
    if (job.data.size() != wanted.size())
      return fail(ErrorCode::invalid_argument,
                  "A kernel job multiplies two matrices, but this job has data for {}.",
                  job.data.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (job.data[i].size() == wanted[i]) continue;
      return fail(ErrorCode::invalid_argument, "Matrix {} has {} bytes; its shape needs {}.",
                  i == 0 ? "a" : "b", job.data[i].size(), wanted[i]);
    }
    return {};
  }
  if (manifest.kind == manifest::Kind::wgsl && job.shader.empty())
    return fail(ErrorCode::invalid_argument, "The job has no shader text.");
  if (job.data.size() != manifest.bindings.size()) {
    return fail(ErrorCode::invalid_argument,
                "The job has data for {} bindings, but its manifest has {}.", job.data.size(),
                manifest.bindings.size());
  }
  for (std::size_t i = 0; i < job.data.size(); ++i) {
    const manifest::Binding& binding = manifest.bindings[i];
    const bool optional = binding.is_output();
    const std::uint64_t bytes = job.data[i].size();
    if ((optional && bytes == 0) ||
        (binding.role != manifest::Role::output && bytes == binding.bytes()))
      continue;
    return fail(ErrorCode::invalid_argument,
                "The data of binding {} has {} bytes; its shape needs {}.", binding.binding, bytes,
                binding.role == manifest::Role::output ? 0 : binding.bytes());
  }
  return {};
}

}  // namespace

Footprint footprint(const Job& job, Range range) {
  const Manifest& manifest = job.manifest;
  Footprint taken;
  if (manifest.kind == manifest::Kind::kernel) {
    const kernels::MatmulShape shape{
        .rows = range.count, .n = manifest.kernel.n, .k = manifest.kernel.k};
    taken.binding_bytes = {kernels::MatmulI8::a_bytes(shape), kernels::MatmulI8::b_bytes(shape),
                           kernels::MatmulI8::c_bytes(shape)};
    taken.bytes = taken.binding_bytes[0] + taken.binding_bytes[1] + 2 * taken.binding_bytes[2];
    return taken;
  }
  std::size_t output = 0;
  taken.bytes = weft_uniform_bytes;
  for (const manifest::Binding& binding : manifest.bindings) {
    const std::uint64_t bytes = binding.is_output()
                                    ? manifest::output_extent(manifest, output++, range).size
                                    : binding.bytes();
    taken.binding_bytes.push_back(bytes);
    taken.bytes += binding.is_output() ? 2 * bytes : bytes;
  }
  return taken;
}

std::uint32_t piece_workgroups(const Job& job, const gpu::Device& device, std::uint32_t wish) {
  const std::uint32_t most = device.limits().workgroups_per_dimension_max;
  // A kernel's range counts rows, and one workgroup computes a whole tile of rows. A dispatch of
  // fewer rows takes as long as a whole tile, so its measured time would suggest even smaller
  // pieces.
  if (job.manifest.kind == manifest::Kind::kernel) {
    constexpr std::uint32_t whole = kernels::MatmulI8::rows_at_once;
    return (wish + whole - 1) / whole * whole;
  }
  return wish == 0 ? most : std::min(wish, most);
}

Result<> check_job(const Job& job, Range range) {
  const std::uint64_t length = manifest::axis_length(job.manifest);
  if (range.count == 0 || std::uint64_t{range.first} + range.count > length) {
    return fail(ErrorCode::invalid_argument,
                "The range [{}, +{}) is not within the job's {} workgroups.", range.first,
                range.count, length);
  }
  if (!manifest::can_cut(job.manifest) && job.manifest.split.tasks == 1 && range.count != length) {
    return fail(ErrorCode::invalid_argument,
                "A part of the job was asked for, but the job cannot be cut into parts.");
  }
  return check_data(job);
}

namespace {

// Checks the options of a run of some of the steps: the steps must exist, and `state` must have the
// sizes of the outputs.
Result<> check_steps(const Job& job, const RunOptions& options) {
  if (options.step_count == 0 && options.step_first == 0 && options.state == nullptr) return {};
  const std::uint64_t steps =
      job.manifest.kind == manifest::Kind::wgsl ? job.manifest.steps.size() : 0;
  if (manifest::can_cut(job.manifest) || options.step_count == 0 ||
      std::uint64_t{options.step_first} + options.step_count > steps) {
    return fail(ErrorCode::invalid_argument,
                "The steps [{}, +{}) are not a part of the job's {}, or it is one that is cut.",
                options.step_first, options.step_count, steps);
  }
  if (options.state == nullptr) {
    if (options.step_first == 0) return {};
    return fail(
        ErrorCode::invalid_argument,
        "The run begins with step {}, so that it needs the outputs of the steps before it as its "
        "state; it has none.",
        options.step_first);
  }
  std::vector<std::uint64_t> wanted;
  const Footprint taken = footprint(job, options.range);
  for (std::size_t i = 0; i < job.manifest.bindings.size(); ++i) {
    if (job.manifest.bindings[i].is_output()) wanted.push_back(taken.binding_bytes[i]);
  }
  if (!std::ranges::equal(*options.state, wanted, {}, &ByteVector::size)) {
    return fail(ErrorCode::invalid_argument,
                "The state that step {} begins with does not have the sizes of the job's outputs.",
                options.step_first);
  }
  return {};
}

}  // namespace

Result<> range_fits(const Job& job, const gpu::Device& device, const Bounds& bounds,
                    const RunOptions& options) {
  WEFT_OK(check_job(job, options.range));
  WEFT_OK(check_steps(job, options));
  WEFT_OK(check_requirements(job.manifest, device, bounds));
  const Footprint taken = footprint(job, options.range);
  WEFT_OK(check_bindings(job, device, bounds, taken));
  const std::uint64_t bytes_max =
      options.bytes_max == 0 ? bounds.bytes_max : std::min(options.bytes_max, bounds.bytes_max);
  if (taken.bytes > bytes_max) {
    return fail(ErrorCode::resource_exhausted,
                "The task takes {} bytes on the device; it may take at most {} (bytes_max).",
                taken.bytes, bytes_max);
  }
  return check_dispatches(job, device, bounds, options);
}

Result<> fits(const Job& job, const gpu::Device& device, const Bounds& bounds) {
  // No task is longer than the first task, so a check of the first task is enough.
  return range_fits(job, device, bounds, {.range = manifest::task_range(job.manifest, 0)});
}

}  // namespace weft::exec
