// A headless Chromium as a worker: these functions find the program and start it so that WebGPU
// uses its software adapter.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "apps/cli/child_process.h"
#include "common/base/result.h"

namespace weft::cli {

// Returns $WEFT_CHROMIUM, or else the first of chromium, google-chrome, chrome on the PATH.
[[nodiscard]] Result<std::string> find_chromium();

struct ChromiumOptions {
  std::string url;
  std::filesystem::path profile;  // Browser profile of its own; created if missing.
  std::function<void(std::string_view line)> on_line;
};
[[nodiscard]] Result<std::unique_ptr<ChildProcess>> start_chromium(ChromiumOptions options);

}  // namespace weft::cli
