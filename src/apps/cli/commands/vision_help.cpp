#include "apps/cli/commands/vision_help.h"

#include <cstdio>
#include <thread>

#include "apps/cli/camera_session.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/gpu_choice.h"
#include "apps/cli/interruption.h"
#include "apps/cli/json_line.h"
#include "apps/cli/progress.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "worker/camera/invitation.h"
#include "worker/sandbox/sandboxed_detector.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The document of --json; the members' names are its keys.
struct VisionHelpDocument {
  std::string camera;  // The coordinator over which the camera was reached.
  std::string device;
  std::string model;
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;  // Over the coordinator, both ways.
  double seconds = 0;
  std::string ended;
};

}  // namespace documents

namespace {

using documents::VisionHelpDocument;

constexpr Duration again_for = std::chrono::seconds(30);
constexpr auto again_every = std::chrono::milliseconds(1500);

Result<std::unique_ptr<worker::SandboxedDetector>> start_detector(const VisionHelpOptions& options,
                                                                  std::string& device) {
  worker::SandboxedDetector::Options out{.gpu = options.device != "cpu",
                                         .unsafe = options.unsafe_sandbox};
  device = "cpu";
  if (out.gpu) {
    WEFT_ASSIGN(const GpuChoice gpu, choose_gpu(options.device));
    out.adapter = gpu.number;
    device = gpu.name;
  }
  return worker::SandboxedDetector::start(out);
}

// Ends the process of the model at Ctrl-C, because a call to it may take long.
class EndsAtInterruption {
 public:
  explicit EndsAtInterruption(worker::SandboxedDetector& detector)
      : thread_([&detector](const std::stop_token& stop) {
          while (!stop.stop_requested() && !interrupted())
            sleep_unless_interrupted(std::chrono::milliseconds(50));
          if (interrupted()) detector.end();
        }) {}

 private:
  std::jthread thread_;
};

// Helps over one connection after the other. Returns why it ended, in one sentence.
Result<std::string> help(const VisionHelpOptions& options, const worker::CameraLink& link,
                         VisionHelpDocument& document) {
  WEFT_ASSIGN(const auto client,
              net::Client::create({.url = link.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const auto detector, start_detector(options, document.device));
  for (const std::string& part : detector->missing())
    say_beside_progress(weft::format("The model's process is not fully confined: {}.", part));
  const EndsAtInterruption ends(*detector);
  Instant give_up = now();
  for (;;) {
    CameraSession session(*client, *detector, link.invitation);
    auto ended = session.run();
    document.frames += session.frames();
    document.bytes += session.bytes();
    if (!session.model().empty()) document.model = session.model();
    if (interrupted()) return "Interrupted.";
    if (session.was_joined()) give_up = now() + again_for;
    if (ended) return std::move(*ended);
    const ErrorCode code = ended.error().code;
    const bool may_return = code == ErrorCode::unavailable || code == ErrorCode::deadline_exceeded;
    if (!may_return || now() >= give_up) return pass(std::move(ended));
    if (session.was_joined())
      say_beside_progress(ended.error().message + " Joining the camera again.");
    sleep_unless_interrupted(again_every);
  }
}

}  // namespace

int vision_help_command(const VisionHelpOptions& options) {
  note_interruptions();
  const auto link = worker::read_camera_link(options.link);
  if (!link) return report("vision help", link.error());
  VisionHelpDocument document;
  document.camera = link->coordinator;
  const Instant begun = now();
  auto ended = help(options, *link, document);
  if (!ended) return report("vision help", ended.error());
  document.ended = std::move(*ended);
  document.seconds = seconds(now() - begun);
  std::string text;
  if (options.json)
    text = json_line(document);
  else
    text = weft::format("{} frames on {} in {:.1f} s, {:.1f} MB over the coordinator. {}\n",
                        document.frames, document.device, document.seconds,
                        static_cast<double>(document.bytes) * 1e-6, document.ended);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
