// How far a worker's connection is, from Hello to its one end, and what reaches the core of it: a
// refusal is one ErrorMessage, and the connection closes; the core hears once that a welcome worker
// has left.
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
  // False where the connection has ended in between.
  [[nodiscard]] bool advance(Stage from, Stage to);

  // Hands the event to the core; refuses the worker if too much waits there.
  void tell(CoreEvent event);
  void refuse(ErrorCode code, std::string message);
  // A message of another version: in words that a side of that version reads.
  void refuse_version(std::string_view text, const Error& why);
  // The core ends the session; it needs no word of that.
  void end(const protocol::ErrorMessage& why);
  // The worker says goodbye: it leaves on purpose.
  void leave();
  // The connection is gone. True: the worker was welcome, and left() is to follow.
  [[nodiscard]] bool lost();
  // Tells the core of a lost connection, after the frames that came before.
  void left();

 private:
  const jobs::SessionId id_;
  const std::shared_ptr<WorkerConnection> connection_;
  const PostEvent core_;
  std::atomic<Stage> stage_ = Stage::hello;
  std::atomic<std::uint32_t> answers_in_;  // The version of errors: what the worker reads.
  std::atomic<bool> on_purpose_ = false;
};

}  // namespace weft::coordinator
