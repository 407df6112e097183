// One connection of this machine to a shared camera: joins over the coordinator, gets the model and
// frames, and sends boxes until the connection ends.
//
// Threading: run() blocks its thread, on which the model computes; messages arrive on the client's
// thread. Lifetime: client and detector outlive the session.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "platform/net/client.h"
#include "worker/camera/helper.h"
#include "worker/camera/relay_line.h"
#include "worker/sandbox/sandboxed_detector.h"

namespace weft::cli {

class CameraSession {
 public:
  CameraSession(net::Client& client, worker::SandboxedDetector& detector,
                const worker::CameraInvitation& invitation);
  CameraSession(const CameraSession&) = delete;
  ~CameraSession();

  // Helps until the camera ends the session or Ctrl-C is pressed, and returns a sentence. Fails
  // with unavailable or deadline_exceeded if the connection breaks or is not made, with
  // permission_denied if what answers is not the camera of the link, with data_loss or
  // invalid_argument if the camera breaks the protocol, and as SandboxedDetector does.
  [[nodiscard]] Result<std::string> run();

  [[nodiscard]] bool was_joined() const;
  [[nodiscard]] std::uint64_t frames() const;
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::string model() const;

 private:
  // The state that the client's callbacks share; they may outlive the session.
  struct State;
  [[nodiscard]] Result<> open_model(worker::camera::Helper::OpenModel work);
  [[nodiscard]] Result<> find_boxes(worker::camera::Helper::FindBoxes work);
  // Sends the refusal of the current work, and returns the error.
  [[nodiscard]] Result<> refuse(Error error);

  worker::SandboxedDetector& detector_;
  const std::shared_ptr<State> state_;
};

}  // namespace weft::cli
