// Chooses one of this machine's GPUs by a word of the user.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "engine/gpu/types.h"

namespace weft::cli {

struct GpuChoice {
  std::size_t number = 0;  // The number in gpu::Instance::adapters().
  std::string name{};
};
// "gpu" means the best GPU; another word means the first GPU whose name contains it, in upper or
// lower case. Fails with not_found if there is none of this name, and with unavailable if the
// machine has no GPU.
[[nodiscard]] Result<GpuChoice> choose_gpu(std::string_view word);
[[nodiscard]] Result<GpuChoice> choose_gpu(std::string_view word,
                                           std::span<const gpu::AdapterInfo> adapters);

}  // namespace weft::cli
