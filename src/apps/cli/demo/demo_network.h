// The processes of the demo: a coordinator, native workers and a tab. Each is a real program on
// loopback, as a user would start it, and ends with this object.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/api_client.h"
#include "apps/cli/child_process.h"
#include "apps/cli/scratch_folder.h"
#include "common/base/guarded.h"
#include "common/base/result.h"

namespace weft::cli {

class DemoNetwork {
 public:
  struct Options {
    std::string listen;
    std::size_t native_workers = 2;
    bool browser = true;
  };
  // Starts everything and returns when every worker has joined.
  [[nodiscard]] static Result<std::unique_ptr<DemoNetwork>> start(const Options& options);
  ~DemoNetwork();

  [[nodiscard]] ApiClient& api() { return *api_; }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  // Kills the worker with SIGKILL, which has the effect of a power cut. Returns the worker's key.
  [[nodiscard]] std::string kill_native_worker(std::size_t index);
  // Closes the tab in an orderly way.
  void stop_browser();
  // Returns a callback for the output of a further process of the network.
  [[nodiscard]] std::function<void(std::string_view)> listen_to(std::string name);
  // The last lines that the processes printed, for error messages.
  [[nodiscard]] std::string last_words();

 private:
  struct Log {
    std::vector<std::string> lines;
    std::string url;
  };
  DemoNetwork() = default;
  Result<> start_coordinator(const std::string& listen);
  Result<> start_native_worker(std::size_t index);
  Result<> start_browser();
  Result<> wait_for_workers(std::size_t count);

  ScratchFolder folder_{"weft-demo"};
  std::shared_ptr<Guarded<Log>> log_ = std::make_shared<Guarded<Log>>();
  std::unique_ptr<ChildProcess> coordinator_;
  std::vector<std::unique_ptr<ChildProcess>> native_workers_;
  std::vector<std::string> native_keys_;
  std::unique_ptr<ChildProcess> browser_;
  std::unique_ptr<ApiClient> api_;
  std::string url_;
};

}  // namespace weft::cli
