// Loads a manifest file and the files that it names as a job that can run on this machine.
#pragma once

#include <filesystem>
#include <memory>

#include "common/base/result.h"
#include "engine/exec/executor.h"

namespace weft::cli {

// Relative paths start at the manifest's folder. A job that names a blob is refused, because blobs
// are stored at a coordinator.
[[nodiscard]] Result<std::shared_ptr<const exec::Job>> load_local_job(
    const std::filesystem::path& manifest);

}  // namespace weft::cli
