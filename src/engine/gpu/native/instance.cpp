#include "engine/gpu/native/instance.h"

#include <utility>

#include "common/base/log.h"
#include "engine/gpu/native/adapters.h"
#include "engine/gpu/native/blob_cache.h"
#include "engine/gpu/native/dawn_backend.h"
#include "engine/gpu/native/loop.h"

namespace weft::gpu::native {
namespace {

// Health outlives the device, because Dawn may call these callbacks on any thread and after the
// device is destroyed.
void report_loss(const wgpu::Device&, wgpu::DeviceLostReason reason, wgpu::StringView message,
                 SharedHealth* health) {
  if (reason == wgpu::DeviceLostReason::CallbackCancelled) return;
  (*health)->with([&](Health& state) {
    if (!state.lost) state.lost = std::string(std::string_view(message));
  });
}
void report_error(const wgpu::Device&, wgpu::ErrorType, wgpu::StringView message,
                  SharedHealth* health) {
  std::string text{std::string_view(message)};
  text.erase(text.find_last_not_of('\n') + 1);
  log_warning("gpu: {}", text);
  (*health)->with([&](Health& state) { state.add_error(text); });
}

// Dawn compiles on threads of its own and calls these functions on those threads.
std::size_t load_blob(std::size_t key_size, const std::uint8_t* key, std::size_t size,
                      std::uint8_t* out, void* cache, void*) {
  return static_cast<BlobCache*>(cache)->load({key, key_size}, {out, out == nullptr ? 0 : size});
}
void store_blob(std::size_t key_size, const std::uint8_t* key, std::size_t size,
                const std::uint8_t* blob, void* cache, void*) {
  static_cast<BlobCache*>(cache)->store({key, key_size}, {blob, size});
}

class DawnInstance final : public PumpedInstance {
 public:
  ~DawnInstance() override = default;

  Async<Result<std::vector<AdapterInfo>>> adapters() override {
    std::vector<AdapterInfo> infos;
    for (FoundAdapter& found : find_adapters(loop_->dawn(), false))
      infos.push_back(std::move(found.info));
    co_return infos;
  }

  Async<Result<std::unique_ptr<Device>>> create_device(DeviceOptions options,
                                                       std::optional<std::size_t> index) override {
    std::vector<FoundAdapter> found = find_adapters(loop_->dawn(), options.trusted_shaders);
    std::vector<AdapterInfo> infos;
    for (const FoundAdapter& entry : found) infos.push_back(entry.info);
    if (!index) index = best_adapter(infos);
    if (!index)
      co_return fail(
          ErrorCode::unavailable,
          "This machine has no GPU that WebGPU can use (no Vulkan, Direct3D 12 or Metal driver).");
    if (*index >= found.size())
      co_return fail(ErrorCode::not_found, "There is no GPU with number {}; this machine has {}.",
                     *index, found.size());
    const wgpu::Adapter& adapter = found[*index].adapter;

    Backend::Description description;
    description.adapter = std::move(found[*index].info);
    description.features = wanted_features(description.adapter, options);
    description.debug = options.debug;
    description.trusted_shaders = options.trusted_shaders;
    Wait<wgpu::Device> wait(loop_->ready());
    const SharedHealth health = request(adapter, options, description.features, wait.completion());
    WEFT_CO_ASSIGN(wgpu::Device device, co_await wait);

    wgpu::Limits limits;
    device.GetLimits(&limits);
    description.limits = to_limits(limits);
    co_return std::make_unique<Device>(
        std::make_unique<DawnBackend>(std::move(description), loop_, std::move(device), health));
  }

  bool poll(std::chrono::nanoseconds timeout) override { return loop_->poll(timeout); }

 private:
  SharedHealth request(const wgpu::Adapter& adapter, const DeviceOptions& options,
                       const std::vector<std::string>& names,
                       const Completion<wgpu::Device>& done) {
    SharedHealth& health =
        loop_->keep(std::make_shared<SharedHealth>(std::make_shared<Guarded<Health>>()));
    std::vector<wgpu::FeatureName> features;
    for (const std::string& name : names) features.push_back(to_feature(name));
    wgpu::Limits limits;
    adapter.GetLimits(&limits);
    wgpu::DawnTogglesDescriptor chained = toggles(options.trusted_shaders);
    WGPUDawnCacheDeviceDescriptor cache = WGPU_DAWN_CACHE_DEVICE_DESCRIPTOR_INIT;
    if (!options.cache_directory.empty()) {
      BlobCache& blobs = loop_->keep(std::make_shared<BlobCache>(
          BlobCache::Options{options.cache_directory, options.cache_bytes_max}));
      cache.dawnLoadCacheDataCallbackInfo.callback = load_blob;
      cache.dawnLoadCacheDataCallbackInfo.userdata1 = &blobs;
      cache.dawnStoreCacheDataCallbackInfo.callback = store_blob;
      cache.dawnStoreCacheDataCallbackInfo.userdata1 = &blobs;
      chained.nextInChain = reinterpret_cast<const wgpu::ChainedStruct*>(&cache);
    }

    wgpu::DeviceDescriptor descriptor;
    descriptor.nextInChain = &chained;
    descriptor.label = wgpu::StringView(options.label);
    descriptor.requiredFeatureCount = features.size();
    descriptor.requiredFeatures = features.data();
    descriptor.requiredLimits = &limits;
    descriptor.SetDeviceLostCallback(wgpu::CallbackMode::AllowSpontaneous, report_loss, &health);
    descriptor.SetUncapturedErrorCallback(report_error, &health);
    loop_->add(
        adapter.RequestDevice(&descriptor, wgpu::CallbackMode::WaitAnyOnly,
                              [done](wgpu::RequestDeviceStatus status, wgpu::Device device,
                                     wgpu::StringView message) {
                                if (status == wgpu::RequestDeviceStatus::Success)
                                  return done(std::move(device));
                                done(fail(ErrorCode::unavailable, "The GPU gives no device: {}",
                                          std::string(std::string_view(message))));
                              }),
        nullptr);
    return health;
  }

  std::shared_ptr<Loop> loop_ = std::make_shared<Loop>();
};

}  // namespace

#ifdef WEFT_KEEP_DRIVERS_LOADED
void keep_drivers_loaded();  // Defined in keep_drivers.cpp.
#endif

std::unique_ptr<PumpedInstance> create_instance() {
#ifdef WEFT_KEEP_DRIVERS_LOADED
  keep_drivers_loaded();
#endif
  return std::make_unique<DawnInstance>();
}

}  // namespace weft::gpu::native
