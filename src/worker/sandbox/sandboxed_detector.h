// A camera's detector in a confined process (detector_service.h), seen from the parent.
//
// Threading: as Sandbox: one owner, whose calls block; end() may be called from any thread. After
// an error of the process itself, make another one.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "worker/sandbox/sandbox.h"

namespace weft::worker {

class SandboxedDetector {
 public:
  struct Options {
    bool gpu = true;  // False: the model runs on the processor.
    // Number of the GPU (gpu::Instance::adapters()); default: the best one.
    std::optional<std::size_t> adapter = {};
    bool unsafe = false;  // As Sandbox::Options::unsafe.
    std::filesystem::path program = Sandbox::Options().program;
    std::vector<std::string> arguments = Sandbox::Options().arguments;
    Duration open_max = std::chrono::seconds(120);  // Includes compiling the model's kernels.
    Duration find_max = std::chrono::seconds(60);
  };
  struct Facts {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    bool gpu = false;
    std::string device{};
  };
  struct Placed {
    double left = 0;
    double top = 0;
    double scale_x = 1;
    double scale_y = 1;
  };
  struct Box {
    std::int64_t class_id = 0;
    double score = 0;
    std::array<double, 4> sides{};  // Left, top, right, bottom in pixels of the picture.
    std::string label{};
  };

  // Starts the process and waits for its device. Fails as Sandbox::wait_ready() does.
  [[nodiscard]] static Result<std::unique_ptr<SandboxedDetector>> start(const Options& options);
  // Opens an ONNX file. Fails with resource_exhausted if the model takes more than
  // `held_bytes_max`, and as read_model(), prepare() and detector_input() do.
  [[nodiscard]] Result<Facts> open(ByteSpan file, std::uint64_t held_bytes_max);
  // Finds boxes in the levels of the model's input, [3][height][width]. Called after open().
  [[nodiscard]] Result<std::vector<Box>> find(ByteSpan levels, const Placed& placed);
  // Ends the process. A running call fails with cancelled.
  void end() { sandbox_->kill(); }
  // The parts of the confinement that this machine lacks, one sentence each.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] pid_t pid() const { return sandbox_->pid(); }

 private:
  SandboxedDetector(Options options, std::unique_ptr<Sandbox> sandbox,
                    std::vector<std::string> missing)
      : options_(std::move(options)), sandbox_(std::move(sandbox)), missing_(std::move(missing)) {}

  const Options options_;
  const std::unique_ptr<Sandbox> sandbox_;
  const std::vector<std::string> missing_;
};

}  // namespace weft::worker
