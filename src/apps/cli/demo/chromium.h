// A headless Chromium as a worker: where it is, and how it is started so that WebGPU runs on its
// software adapter.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "apps/cli/child_process.h"
#include "common/base/result.h"

namespace weft::cli {

// $WEFT_CHROMIUM, then chromium, google-chrome, chrome on the path.
[[nodiscard]] Result<std::string> find_chromium();

struct ChromiumOptions {
  std::string url;
  std::filesystem::path profile;  // Its own folder; made when missing.
  std::function<void(std::string_view line)> on_line;
};
[[nodiscard]] Result<std::unique_ptr<ChildProcess>> start_chromium(ChromiumOptions options);

}  // namespace weft::cli
