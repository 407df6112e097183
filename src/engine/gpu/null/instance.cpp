#include "engine/gpu/null/instance.h"

#include <algorithm>

#include "engine/gpu/null/state.h"

namespace weft::gpu::null {

AdapterInfo default_adapter() {
  AdapterInfo info;
  info.vendor = "weft";
  info.architecture = "null";
  info.device = "null";
  info.description = "A GPU that is not there";
  info.backend = "null";
  info.kind = AdapterKind::cpu;
  info.subgroup_size_min = 8;
  info.subgroup_size_max = 8;
  info.features.assign(known_features().begin(), known_features().end());
  info.wgsl_features = {"immediate_address_space", "packed_4x8_integer_dot_product", "subgroup_id"};
  info.limits = {
      .buffer_bytes_max = std::uint64_t{256} << 20,
      .storage_binding_bytes_max = std::uint64_t{128} << 20,
      .uniform_binding_bytes_max = 65536,
      .storage_offset_alignment = 256,
      .uniform_offset_alignment = 256,
      .storage_buffers_per_stage_max = 8,
      .uniform_buffers_per_stage_max = 12,
      .bind_groups_max = 4,
      .workgroup_storage_bytes_max = 16384,
      .workgroup_invocations_max = 256,
      .workgroup_size_x_max = 256,
      .workgroup_size_y_max = 256,
      .workgroup_size_z_max = 64,
      .workgroups_per_dimension_max = 65535,
      .immediate_bytes_max = 64,
  };
  return info;
}

NullInstance::NullInstance(Options options) : state_(std::make_shared<State>()) {
  state_->adapters = std::move(options.adapters);
  if (state_->adapters.empty()) state_->adapters.push_back(default_adapter());
}

Async<Result<std::vector<AdapterInfo>>> NullInstance::adapters() { co_return state_->adapters; }

Async<Result<std::unique_ptr<Device>>> NullInstance::create_device(
    DeviceOptions options, std::optional<std::size_t> index) {
  if (!index) index = best_adapter(state_->adapters);
  if (*index >= state_->adapters.size())
    co_return fail(ErrorCode::not_found, "There is no GPU with number {}; this machine has {}.",
                   *index, state_->adapters.size());
  Wait<> wait(state_->ready);
  state_->under_way.push_back([done = wait.completion()] { done({}); });
  (void)co_await wait;  // The wait always succeeds; `failures` decides what fails.
  if (state_->failures.no_device)
    co_return fail(ErrorCode::unavailable, "The GPU gives no device.");
  const AdapterInfo& adapter = state_->adapters[*index];
  Backend::Description description{adapter, adapter.limits, wanted_features(adapter, options),
                                   options.debug, options.trusted_shaders};
  auto backend = std::make_unique<NullBackend>(std::move(description), state_);
  state_->devices.push_back(backend->health());
  co_return std::make_unique<Device>(std::move(backend));
}

bool NullInstance::poll(std::chrono::nanoseconds) {
  bool any = state_->ready->drain();
  if (!state_->held) {
    for (const auto& complete : std::exchange(state_->under_way, {})) complete();
  }
  std::erase_if(state_->devices, [](const auto& health) { return health.expired(); });
  for (std::size_t i = 0; i < state_->devices.size(); ++i) {
    if (const auto health = state_->devices[i].lock()) announce_loss(health);
  }
  return state_->ready->drain() || any;
}

Failures& NullInstance::failures() { return state_->failures; }

void NullInstance::lose(std::string reason) {
  for (const auto& device : state_->devices) {
    if (const auto health = device.lock()) {
      health->with([&](Health& state) {
        if (!state.lost) state.lost = reason;
      });
    }
  }
}

void NullInstance::hold() { state_->held = true; }
void NullInstance::release() { state_->held = false; }
std::size_t NullInstance::under_way() const { return state_->under_way.size(); }

const std::vector<Command>& NullInstance::commands() const { return state_->commands; }
std::size_t NullInstance::count(Command::Kind kind) const {
  return static_cast<std::size_t>(std::ranges::count(state_->commands, kind, &Command::kind));
}
void NullInstance::forget_commands() { state_->commands.clear(); }

std::vector<BoundRange> NullInstance::bound(Handle bind_group) const {
  const auto found = state_->bind_groups.find(bind_group);
  return found == state_->bind_groups.end() ? std::vector<BoundRange>{} : found->second;
}

ByteVector NullInstance::bytes(const Buffer& buffer) const {
  return state_->read(buffer.handle(), 0, buffer.size());
}
void NullInstance::on_dispatch(std::function<void(const Command&)> kernel) {
  state_->kernel = std::move(kernel);
}
void NullInstance::poke(Handle buffer, std::uint64_t offset, ByteSpan bytes) {
  state_->write(buffer, offset, bytes);
}

std::unique_ptr<NullInstance> create_instance(Options options) {
  return std::make_unique<NullInstance>(std::move(options));
}

}  // namespace weft::gpu::null
