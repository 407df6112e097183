#include "engine/gpu/web/instance.h"

#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include <emscripten/emscripten.h>

#include "common/base/log.h"
#include "engine/gpu/web/imports.h"
#include "engine/gpu/web/operation.h"
#include "engine/gpu/web/web_backend.h"

namespace weft::gpu::web {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

// Parses the lines of KEY=VALUE in which web.js describes adapter and device.
Fields parse_fields(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = std::min(line.find('='), line.size());
    if (equals < line.size()) fields.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return fields;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) list.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

std::vector<std::string> words(std::string_view text) { return split(text, ' '); }

std::string field(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

std::uint64_t number(const Fields& fields, std::string_view name) {
  const std::string text = field(fields, name);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::isfinite(value) && value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

Limits to_limits(const Fields& fields, const std::string& whose) {
  const auto u64 = [&](const char* name) { return number(fields, whose + name); };
  const auto u32 = [&](const char* name) {
    return static_cast<std::uint32_t>(number(fields, whose + name));
  };
  return {
      .buffer_bytes_max = u64("maxBufferSize"),
      .storage_binding_bytes_max = u64("maxStorageBufferBindingSize"),
      .uniform_binding_bytes_max = u64("maxUniformBufferBindingSize"),
      .storage_offset_alignment = u32("minStorageBufferOffsetAlignment"),
      .uniform_offset_alignment = u32("minUniformBufferOffsetAlignment"),
      .storage_buffers_per_stage_max = u32("maxStorageBuffersPerShaderStage"),
      .uniform_buffers_per_stage_max = u32("maxUniformBuffersPerShaderStage"),
      .bind_groups_max = u32("maxBindGroups"),
      .workgroup_storage_bytes_max = u32("maxComputeWorkgroupStorageSize"),
      .workgroup_invocations_max = u32("maxComputeInvocationsPerWorkgroup"),
      .workgroup_size_x_max = u32("maxComputeWorkgroupSizeX"),
      .workgroup_size_y_max = u32("maxComputeWorkgroupSizeY"),
      .workgroup_size_z_max = u32("maxComputeWorkgroupSizeZ"),
      .workgroups_per_dimension_max = u32("maxComputeWorkgroupsPerDimension"),
      .immediate_bytes_max = u32("maxImmediateSize"),
  };
}

// Parses "COMPONENT:RESULT:M:N:K"; returns nullopt if the text has another format.
std::optional<SubgroupMatrix> to_subgroup_matrix(std::string_view text) {
  std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 5) return std::nullopt;
  SubgroupMatrix matrix{.component = parts[0], .result = parts[1]};
  const auto read = [](const std::string& part, std::uint32_t& out) {
    return std::from_chars(part.data(), part.data() + part.size(), out).ec == std::errc();
  };
  if (!read(parts[2], matrix.m) || !read(parts[3], matrix.n) || !read(parts[4], matrix.k))
    return std::nullopt;
  return matrix;
}

AdapterInfo to_adapter(const Fields& fields) {
  AdapterInfo info;
  info.vendor = field(fields, "vendor");
  info.architecture = field(fields, "architecture");
  info.device = field(fields, "device");
  info.description = field(fields, "description");
  info.backend = "webgpu";
  // A browser does not say if a GPU is discrete. It says only if the GPU is a software fallback.
  if (number(fields, "fallback") != 0 || info.architecture == "swiftshader")
    info.kind = AdapterKind::cpu;
  info.features = words(field(fields, "features"));
  info.wgsl_features = words(field(fields, "wgsl"));
  if (info.has("subgroups")) {
    info.subgroup_size_min = static_cast<std::uint32_t>(number(fields, "subgroup_min"));
    info.subgroup_size_max = static_cast<std::uint32_t>(number(fields, "subgroup_max"));
  }
  for (const std::string& word : words(field(fields, "subgroup_matrices"))) {
    if (auto matrix = to_subgroup_matrix(word))
      info.subgroup_matrices.push_back(std::move(*matrix));
  }
  info.limits = to_limits(fields, "adapter.");
  return info;
}

struct MadeDevice {
  std::uint32_t handle = 0;
  Fields fields;
};

class WebInstance final : public Instance {
 public:
  Async<Result<std::vector<AdapterInfo>>> adapters() override {
    Wait<AdapterInfo> wait(ready_);
    weft_gpu_adapter(operation<AdapterInfo>(
        ready_, wait.completion(), [](double, std::string_view text) -> Result<AdapterInfo> {
          return to_adapter(parse_fields(text));
        }));
    WEFT_CO_ASSIGN(AdapterInfo info, co_await wait);
    std::vector<AdapterInfo> infos;
    infos.push_back(std::move(info));
    co_return infos;
  }

  Async<Result<std::unique_ptr<Device>>> create_device(DeviceOptions options,
                                                       std::optional<std::size_t> index) override {
    if (index.value_or(0) != 0)
      co_return fail(ErrorCode::not_found, "There is no GPU with number {}; a browser offers one.",
                     *index);
    std::string wanted;
    const auto add = [&](std::string_view name) { (wanted += wanted.empty() ? "" : " ") += name; };
    if (options.features) {
      for (const std::string& name : *options.features) add(name);
    } else {
      for (const std::string_view name : known_features()) add(name);
    }
    const auto health = std::make_shared<Guarded<Health>>();
    Wait<MadeDevice> wait(ready_);
    const auto convert = [done = wait.completion()](double handle,
                                                    std::string_view text) -> Result<MadeDevice> {
      if (done.wanted()) return MadeDevice{static_cast<std::uint32_t>(handle), parse_fields(text)};
      weft_gpu_release(static_cast<std::uint32_t>(handle), 1);
      return fail(ErrorCode::cancelled, "The request for this device was abandoned.");
    };
    Listener* const listening = listener(health);
    weft_gpu_device(operation<MadeDevice>(ready_, wait.completion(), convert), listening,
                    options.label.data(), static_cast<std::uint32_t>(options.label.size()),
                    wanted.data(), static_cast<std::uint32_t>(wanted.size()));
    Result<MadeDevice> result = co_await wait;
    // If the request succeeded, the loss of the device deletes the listener.
    if (!result) delete listening;
    WEFT_CO_ASSIGN(const MadeDevice made, std::move(result));

    Backend::Description description;
    description.adapter = to_adapter(made.fields);
    description.limits = to_limits(made.fields, "device.");
    description.features = words(field(made.fields, "enabled"));
    description.debug = options.debug;
    co_return std::make_unique<Device>(
        std::make_unique<WebBackend>(std::move(description), ready_, health, made.handle));
  }

 private:
  static Listener* listener(SharedHealth health) {
    return new Listener{[health = std::move(health)](bool lost, std::string_view text) {
      if (!lost) log_warning("gpu: {}", text);
      health->with([&](Health& state) {
        if (!lost) return state.add_error(std::string(text));
        if (!state.lost) state.lost = std::string(text);
      });
      announce_loss(health);
    }};
  }

  std::shared_ptr<ReadyQueue> ready_ = std::make_shared<ReadyQueue>();
};

}  // namespace

std::unique_ptr<Instance> create_instance() { return std::make_unique<WebInstance>(); }

}  // namespace weft::gpu::web

namespace {

template <class T>
T* pointer(double address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}
std::string_view text(double address, double size) {
  return {pointer<const char>(address), static_cast<std::size_t>(size)};
}

}  // namespace

extern "C" {
EMSCRIPTEN_KEEPALIVE void weft_gpu_complete(double callback, int status, double value,
                                            double text_address, double text_size) {
  const std::unique_ptr<weft::gpu::web::Callback> owned(
      pointer<weft::gpu::web::Callback>(callback));
  owned->call(static_cast<weft::gpu::web::StatusCode>(status), value,
              text(text_address, text_size));
}
EMSCRIPTEN_KEEPALIVE int weft_gpu_wanted(double callback) {
  return pointer<weft::gpu::web::Callback>(callback)->wanted() ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE void weft_gpu_event(double listener, int lost, double text_address,
                                         double text_size) {
  auto* owned = pointer<weft::gpu::web::Listener>(listener);
  owned->call(lost != 0, text(text_address, text_size));
  if (lost != 0) delete owned;
}
}
