// A manifest file as a job that can run here: the files that it names are read.
#pragma once

#include <filesystem>
#include <memory>

#include "common/base/result.h"
#include "engine/exec/executor.h"

namespace weft::cli {

// Relative paths are seen from the manifest's folder. Blobs are a coordinator's, so a job that
// names one is refused.
[[nodiscard]] Result<std::shared_ptr<const exec::Job>> load_local_job(
    const std::filesystem::path& manifest);

}  // namespace weft::cli
