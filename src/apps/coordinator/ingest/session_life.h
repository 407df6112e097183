// The stages of a worker's connection, from Hello to its only end. A refused worker gets one
// ErrorMessage, and the connection closes. The core is told once if a worker that it has welcomed
// leaves.
//
// Threading: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apps/coordinator/ingest/worker_connection.h"
#include "common/base/result.h"
#include "common/protocol/messages_fwd.h"

namespace weft::coordinator {

class SessionLife {
 public:
  enum class Stage : std::uint8_t { hello, proof, welcome, ended };

  SessionLife(jobs::SessionId id, std::shared_ptr<WorkerConnection> connection, PostEvent core);

  [[nodiscard]] jobs::SessionId id() const { return id_; }
  [[nodiscard]] Stage stage() const { return stage_; }
  // The protocol version of the frames that the worker reads.
  [[nodiscard]] std::uint32_t spoken() const { return spoken_; }
  // Sets the version that was chosen for the connection.
  void speak(std::uint32_t version) { spoken_ = version; }
  // Returns false if the connection has ended meanwhile.
  [[nodiscard]] bool advance(Stage from, Stage to);

  // Passes the event to the core. Refuses the worker if too many events wait there.
  void tell(CoreEvent event);
  void refuse(ErrorCode code, std::string message);
  // Refuses a message of another protocol version, with an error in the sender's version.
  void refuse_version(std::string_view text, const Error& why);
  // Ends the session for the core, which need not be told.
  void end(const protocol::ErrorMessage& why);
  // Ends the session because the worker says goodbye.
  void leave();
  // The connection was lost. Returns true if the core had welcomed the worker; then call left().
  [[nodiscard]] bool lost();
  // Tells the core that the connection is lost. Call it after the core has been given every frame
  // that arrived before the loss.
  void left();

 private:
  const jobs::SessionId id_;
  const std::shared_ptr<WorkerConnection> connection_;
  const PostEvent core_;
  std::atomic<Stage> stage_ = Stage::hello;
  // The version that was chosen; before the choice the first spoken version, which all workers
  // read.
  std::atomic<std::uint32_t> spoken_;
  std::atomic<bool> on_purpose_ = false;
};

}  // namespace weft::coordinator
