#include "apps/cli/gpu_choice.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "engine/gpu/backend.h"
#include "engine/gpu/native/instance.h"
#include "engine/gpu/run.h"

namespace weft::cli {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

Result<GpuChoice> choose_gpu(std::string_view word, std::span<const gpu::AdapterInfo> adapters) {
  if (adapters.empty())
    return fail(ErrorCode::unavailable,
                "This machine has no GPU that WebGPU can use (no Vulkan, Direct3D 12 or Metal "
                "driver); --device cpu works without one.");
  if (word == "gpu") {
    const auto best = gpu::best_adapter(adapters);
    return GpuChoice{.number = best.value_or(0), .name = adapters[best.value_or(0)].device};
  }
  std::string names;
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    if (in_lower_case(adapters[i].device).contains(in_lower_case(word)))
      return GpuChoice{.number = i, .name = adapters[i].device};
    names += (i == 0 ? "" : ", ") + adapters[i].device;
  }
  return fail(ErrorCode::not_found,
              "The device '{}' is not gpu, cpu or a part of a GPU's name here: {}.", word, names);
}

Result<GpuChoice> choose_gpu(std::string_view word) {
  const auto instance = gpu::native::create_instance();
  WEFT_ASSIGN(const std::vector<gpu::AdapterInfo> adapters,
              gpu::run(*instance, instance->adapters()));
  return choose_gpu(word, adapters);
}

}  // namespace weft::cli
