#include "apps/cli/demo/chromium.h"

#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace weft::cli {
namespace {

std::string on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = std::string(folder).append("/").append(name);
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate))
      return candidate;
  }
  return {};
}

}  // namespace

Result<std::string> find_chromium() {
  if (const char* named = std::getenv("WEFT_CHROMIUM"); named != nullptr && *named != '\0') {
    if (::access(named, X_OK) == 0) return named;
    return fail(ErrorCode::not_found, "WEFT_CHROMIUM names '{}', which cannot be run.", named);
  }
  for (const char* name : {"chromium", "google-chrome", "chrome"}) {
    if (std::string found = on_path(name); !found.empty()) return found;
  }
  return fail(
      ErrorCode::not_found,
      "No Chromium on the path; install the package chromium, or name one in WEFT_CHROMIUM.");
}

Result<std::unique_ptr<ChildProcess>> start_chromium(ChromiumOptions options) {
  WEFT_ASSIGN(std::string program, find_chromium());
  std::error_code error;
  std::filesystem::create_directories(options.profile, error);
  if (error)
    return fail(ErrorCode::permission_denied, "Cannot make the folder {}: {}.",
                options.profile.string(), error.message());
  std::vector<std::string> arguments = {
      program,
      "--headless=new",
      "--enable-automation",  // Sets navigator.webdriver; then the page obeys ?start=1.
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
      "--user-data-dir=" + options.profile.string()};
  if (::geteuid() == 0)
    arguments.push_back("--no-sandbox");  // Chromium's sandbox does not run as root.
  arguments.push_back(options.url);
  return ChildProcess::start({.arguments = std::move(arguments),
                              .environment = {},
                              .on_line = std::move(options.on_line)});
}

}  // namespace weft::cli
