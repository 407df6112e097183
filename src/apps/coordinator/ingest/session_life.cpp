#include "apps/coordinator/ingest/session_life.h"

#include <utility>

#include "common/base/log.h"
#include "common/protocol/codec.h"
#include "common/protocol/versions.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t message_bytes_max = 4096;  // The protocol's bound on the message of an error.

CoreEvent left_event(jobs::SessionId id, bool on_purpose) {
  return [id, on_purpose](jobs::Core& core, jobs::Moment now) {
    core.sessions().left(id, on_purpose, now);
  };
}

}  // namespace

SessionLife::SessionLife(jobs::SessionId id, std::shared_ptr<WorkerConnection> connection,
                         PostEvent core)
    : id_(id),
      connection_(std::move(connection)),
      core_(std::move(core)),
      spoken_(protocol::spoken_versions.first) {}

bool SessionLife::advance(Stage from, Stage to) { return stage_.compare_exchange_strong(from, to); }

void SessionLife::tell(CoreEvent event) {
  if (!core_(std::move(event)))
    refuse(ErrorCode::unavailable, "The coordinator has too much to do; try again later.");
}

void SessionLife::refuse_version(std::string_view text, const Error& why) {
  const auto head = protocol::read_head(text);
  if (!head) return refuse(why.code, why.message);
  spoken_ = head->version;
  refuse(why.code, protocol::update_sentence(head->kind.value_or(protocol::WorkerKind::native),
                                             head->offered, protocol::version_list()));
}

void SessionLife::refuse(ErrorCode code, std::string message) {
  const Stage before = stage_.exchange(Stage::ended);
  if (before == Stage::ended) return;
  log_info("Session {} is refused: {}", id_.number(), message);
  connection_->send_text(protocol::encode_error(
      {.code = std::string(to_string(code)), .message = message.substr(0, message_bytes_max)},
      spoken_));
  connection_->close(message);
  if (before == Stage::welcome) (void)core_(left_event(id_, false));
}

void SessionLife::end(const protocol::ErrorMessage& why) {
  if (stage_.exchange(Stage::ended) == Stage::ended) return;
  connection_->send_text(protocol::encode(protocol::CoordinatorMessage(why), spoken_));
  connection_->close(why.message);
}

void SessionLife::leave() {
  on_purpose_ = true;
  tell(left_event(id_, true));
  stage_ = Stage::ended;
  connection_->close("goodbye");
}

bool SessionLife::lost() { return stage_.exchange(Stage::ended) == Stage::welcome; }

void SessionLife::left() { (void)core_(left_event(id_, on_purpose_)); }

}  // namespace weft::coordinator
