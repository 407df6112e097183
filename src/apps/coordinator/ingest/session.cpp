#include "apps/coordinator/ingest/session.h"

#include <algorithm>
#include <array>

#include "apps/coordinator/ingest/earlier_receipts.h"
#include "apps/coordinator/ingest/output_room.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/hmac.h"
#include "common/crypto/invitation.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/proof/receipt.h"
#include "common/protocol/codec.h"
#include "common/protocol/digests.h"
#include "common/protocol/receipt_claims.h"
#include "common/protocol/versions.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/lease_proof.h"
#include "decisions/jobs/result_intake.h"
#include "decisions/jobs/verification_leases.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t message_bytes_max = 4096;  // As the protocol bounds it.

std::string text_of(const protocol::ErrorMessage& error) {
  return protocol::encode(protocol::CoordinatorMessage(error));
}

template <class Bytes>
Bytes random() {
  Bytes value;
  crypto::random_bytes(value.bytes);
  return value;
}

}  // namespace

Session::Session(Parts parts) : parts_(std::move(parts)) {}

void Session::on_text(std::string text) {
  const std::size_t bytes = text.size();
  take(bytes, [text = std::move(text)](Session& self) {
    const auto message = protocol::decode_worker_message(text);
    if (!message && message.error().code == ErrorCode::unsupported && self.stage_ == Stage::hello)
      return self.refuse_version(text, message.error());
    if (!message) return self.refuse(message.error().code, message.error().message);
    self.handle(*message);
  });
}

void Session::on_binary(std::string bytes) {
  const std::size_t size = bytes.size();
  take(size, [bytes = std::move(bytes)](Session& self) {
    const Stage stage = self.stage_;
    if (stage == Stage::hello || stage == Stage::proof)
      return self.refuse(ErrorCode::unauthenticated,
                         "A result comes before the worker has proven its key.");
    auto frame = protocol::decode_frame(as_bytes(bytes));
    if (!frame) return self.refuse(frame.error().code, frame.error().message);
    self.result(std::move(*frame));
  });
}

void Session::on_oversized(std::size_t bytes) {
  refuse_in_turn(ErrorCode::resource_exhausted,
                 stage_ == Stage::welcome || bytes > protocol::frame_bytes_max
                     ? weft::format("A frame of {} bytes is over the bound of {}.", bytes,
                                    protocol::frame_bytes_max)
                     : weft::format("A frame of {} bytes is too long for a worker that is not "
                                    "welcome yet.",
                                    bytes));
}

// Behind the frames that came before; nothing is taken any more.
void Session::refuse_in_turn(ErrorCode code, std::string message) {
  if (closing_.exchange(true)) return;
  if (!parts_.work([self = shared_from_this(), code, message] { self->refuse(code, message); }))
    refuse(code, std::move(message));
}

void Session::on_closed() {
  const Stage before = stage_.exchange(Stage::ended);
  if (before != Stage::welcome) return;
  // In order behind the frames that came before. If there is no room for it, the scheduler
  // misses the worker's beats.
  const bool queued = parts_.work([self = shared_from_this()] {
    (void)self->parts_.core([self](jobs::Core& core, jobs::Moment now) {
      core.sessions().left(self->parts_.id, self->on_purpose_, now);
    });
  });
  if (!queued) log_debug("Session {} ends while the queue is full.", parts_.id.number());
}

void Session::take(std::size_t bytes, std::function<void(Session&)> handle) {
  if (stage_ == Stage::ended || closing_) return;
  if (waiting_bytes_.fetch_add(bytes) + bytes > waiting_bytes_max) {
    return refuse_in_turn(
        ErrorCode::resource_exhausted,
        weft::format("More than {} bytes of this worker wait to be looked at.", waiting_bytes_max));
  }
  const bool queued = parts_.work([self = shared_from_this(), bytes, handle = std::move(handle)] {
    // What came before the end is still handled: a result is not lost because the connection broke
    // right behind it.
    handle(*self);
    self->waiting_bytes_ -= bytes;
  });
  if (!queued)
    refuse(ErrorCode::unavailable, "The coordinator has too much to do; try again later.");
}

// In words that a side of its version reads.
void Session::refuse_version(std::string_view text, const Error& why) {
  const auto head = protocol::read_head(text);
  if (!head) return refuse(why.code, why.message);
  answers_in_ = head->version;
  refuse(why.code, protocol::update_sentence(head->kind.value_or(protocol::WorkerKind::native),
                                             head->offered, protocol::version_list()));
}

void Session::refuse(ErrorCode code, std::string message) {
  const Stage before = stage_.exchange(Stage::ended);
  if (before == Stage::ended) return;
  log_info("Session {} is refused: {}", parts_.id.number(), message);
  parts_.connection->send_text(protocol::encode_error(
      {.code = std::string(to_string(code)), .message = message.substr(0, message_bytes_max)},
      answers_in_));
  parts_.connection->close(message);
  if (before == Stage::welcome) {
    (void)parts_.core([id = parts_.id](jobs::Core& core, jobs::Moment now) {
      core.sessions().left(id, false, now);
    });
  }
}

void Session::tell(std::function<void(jobs::Core&, jobs::Moment)> event) {
  if (!parts_.core(std::move(event)))
    refuse(ErrorCode::unavailable, "The coordinator has too much to do; try again later.");
}

void Session::send(const protocol::CoordinatorMessage& message) {
  if (const auto* lease = std::get_if<protocol::Lease>(&message)) {
    held_.with([&](auto& held) {
      for (const auto& task : lease->tasks) {
        held.insert_or_assign({TaskId{.job = lease->job, .index = task.index}, task.attempt},
                              manifest::Range{.first = task.first, .count = task.count});
      }
    });
    for (const auto& task : lease->tasks) allow_upload(lease->job, task);
    std::vector<Hash> states;
    for (const auto& point : lease->resume) states.push_back(point.blob);
    parts_.book.worker_blobs().allow_read(hello_.key, lease->job, states);
  }
  if (std::holds_alternative<protocol::Welcome>(message)) {
    parts_.connection->admit();
    recognise();
  }
  if (const auto* verdict = std::get_if<protocol::Verdict>(&message)) {
    recognise();
    held_.with([&](auto& held) { held.erase({verdict->task, verdict->attempt}); });
  }
  if (const auto* cancel = std::get_if<protocol::Cancel>(&message)) {
    held_.with([&](auto& held) {
      for (const auto& task : cancel->tasks) held.erase({task.task, task.attempt});
    });
  }
  if (stage_ != Stage::ended) parts_.connection->send_text(protocol::encode(message));
}

void Session::recognise() {
  if (recognised_ || !parts_.book.is_known(hello_.key)) return;
  if (!recognised_.exchange(true)) parts_.connection->recognise();
}

void Session::end(const protocol::ErrorMessage& why) {
  if (stage_.exchange(Stage::ended) == Stage::ended) return;
  parts_.connection->send_text(text_of(why));
  parts_.connection->close(why.message);
}

void Session::allow_upload(const JobId& job, const protocol::LeasedTask& task) {
  // A state for each twentieth of the work, the outputs, and what is sent again.
  constexpr std::uint64_t times = 24;
  constexpr std::uint64_t head_bytes = 4096;
  const auto manifest = parts_.book.manifest(job);
  if (!manifest || task.index >= manifest->split.tasks) return;
  const manifest::Range range = task.count > 0
                                    ? manifest::Range{.first = task.first, .count = task.count}
                                    : manifest::task_range(*manifest, task.index);
  std::uint64_t bytes = head_bytes;
  std::vector<std::uint64_t> outputs;
  for (std::size_t i = 0; i < manifest->output_bytes().size(); ++i) {
    outputs.push_back(manifest::output_extent(*manifest, i, range).size);
    bytes += outputs.back();
  }
  // Room is set aside for the results of tasks, and not for those of checks.
  if (range != manifest::task_range(*manifest, task.index)) outputs.clear();
  parts_.book.worker_blobs().allow_upload(hello_.key, {.job = job, .index = task.index},
                                          task.attempt, times * bytes, std::move(outputs));
}

// What comes in the frame counts as what is uploaded does, and takes the room of its job.
Result<std::optional<store::Room::For>> Session::room_for(const protocol::TaskResult& result) {
  bool is_output = true;
  for (const auto& part : result.outputs) {
    if (!part.in_frame) continue;
    const auto upload =
        parts_.book.worker_blobs().take_upload(hello_.key, part.bytes, result.task.job);
    if (!upload)
      return fail(ErrorCode::permission_denied,
                  "The {} bytes of an output are more than the worker's leases lead to.",
                  part.bytes);
    is_output = is_output && upload->output_of.has_value();
  }
  return room_of_worker(parts_.book, hello_.key, parts_.prefix,
                        is_output ? std::optional(result.task.job) : std::nullopt);
}

// False where the connection has ended in between.
bool Session::advance(Stage from, Stage to) { return stage_.compare_exchange_strong(from, to); }

std::optional<manifest::Range> Session::held_range(const TaskId& task, std::uint32_t attempt) {
  return held_.with([&](const auto& held) -> std::optional<manifest::Range> {
    const auto found = held.find({task, attempt});
    return found == held.end() ? std::nullopt : std::optional(found->second);
  });
}

void Session::handle(const protocol::WorkerMessage& message) {
  if (const auto* greeting = std::get_if<protocol::Hello>(&message)) return hello(*greeting);
  if (const auto* proof = std::get_if<protocol::Prove>(&message)) return prove(*proof);
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&message)) {
    log_info("Worker of session {} reports: {}", parts_.id.number(), error->message);
    return;
  }
  // After its end a session still hands on what had come before: the core knows whether it is
  // connected.
  if (stage_ != Stage::welcome && stage_ != Stage::ended) {
    return refuse(ErrorCode::unauthenticated,
                  "A worker says Hello and proves its key before anything else.");
  }
  const jobs::SessionId id = parts_.id;
  if (const auto* shown = std::get_if<protocol::Resume>(&message)) return resume(*shown);
  if (const auto* ready = std::get_if<protocol::TaskResult>(&message)) {
    if (std::ranges::any_of(ready->outputs, [](const auto& part) { return part.in_frame; })) {
      return refuse(ErrorCode::invalid_argument, "A result with bytes travels as a binary frame.");
    }
    return result({.result = *ready, .payload = {}});
  }
  if (const auto* signed_items = std::get_if<protocol::Receipt>(&message))
    return receipt(*signed_items);
  if (const auto* opening = std::get_if<protocol::Opening>(&message)) {
    return tell([id, shown = *opening](jobs::Core& core, jobs::Moment now) {
      core.checks().opened(id, shown, now);
    });
  }
  if (const auto* checkpoint = std::get_if<protocol::Checkpoint>(&message)) {
    const jobs::SavedState saved{
        .session = id, .told = *checkpoint, .is_stored = parts_.intake.holds(*checkpoint)};
    return tell(
        [saved](jobs::Core& core, jobs::Moment now) { core.checkpoints().saved(saved, now); });
  }
  if (const auto* failure = std::get_if<protocol::TaskFailed>(&message)) {
    return tell([id, told = *failure](jobs::Core& core, jobs::Moment now) {
      core.results().failed(id, told, now);
    });
  }
  if (const auto* wanted = std::get_if<protocol::Slots>(&message)) {
    return tell([id, count = wanted->slots](jobs::Core& core, jobs::Moment now) {
      core.sessions().slots(id, count, now);
    });
  }
  if (std::holds_alternative<protocol::Beat>(message)) {
    return tell([id](jobs::Core& core, jobs::Moment now) { core.sessions().beat(id, now); });
  }
  if (std::holds_alternative<protocol::Bye>(message)) {
    on_purpose_ = true;
    tell([id](jobs::Core& core, jobs::Moment now) { core.sessions().left(id, true, now); });
    stage_ = Stage::ended;
    parts_.connection->close("goodbye");
  }
}

void Session::hello(const protocol::Hello& hello) {
  if (stage_ != Stage::hello)
    return refuse(ErrorCode::invalid_argument, "A worker says Hello once.");
  const auto chosen = protocol::common_version(hello.versions);
  if (!chosen) {
    const std::vector<std::uint32_t> none{0};
    return refuse(
        ErrorCode::unsupported,
        protocol::update_sentence(hello.kind, hello.versions.empty() ? none : hello.versions,
                                  protocol::version_list()));
  }
  hello_ = hello;
  nonce_ = random<Hash>();
  if (!advance(Stage::hello, Stage::proof)) return;
  // Tabs cannot read files.
  const bool native = hello.kind == protocol::WorkerKind::native;
  const Signature signature =
      parts_.sign(protocol::challenge_digest({.coordinator = parts_.coordinator,
                                              .worker_nonce = hello.nonce,
                                              .worker = hello.key,
                                              .nonce = nonce_,
                                              .genesis = parts_.genesis,
                                              .program = parts_.program,
                                              .host = parts_.host}));
  parts_.connection->send_text(
      protocol::encode(protocol::Challenge{.version = *chosen,
                                           .nonce = nonce_,
                                           .coordinator = parts_.coordinator,
                                           .signature = signature,
                                           .genesis = parts_.genesis,
                                           .program = parts_.program,
                                           .invite_file = native ? parts_.invite_file : ""}));
}

void Session::prove(const protocol::Prove& prove) {
  if (stage_ != Stage::proof)
    return refuse(ErrorCode::invalid_argument,
                  "A worker proves its key once, after the challenge.");
  if (!crypto::verify_now(hello_.key,
                          protocol::hello_digest(parts_.coordinator, nonce_, hello_.key),
                          prove.signature)) {
    return refuse(ErrorCode::unauthenticated, "The signature does not fit the key.");
  }
  trust::Invitation invited = parts_.without;
  if (!prove.invite.empty()) {
    const auto shown =
        crypto::read_invitation(prove.invite, parts_.coordinator, hello_.key, unix_now());
    if (!shown) return refuse(shown.error().code, shown.error().message);
    if (shown->kind == crypto::InvitationKind::client)
      return refuse(ErrorCode::permission_denied,
                    "The invitation is for a client: it brings credits and no trust. Ask the "
                    "operator for a worker's (weft invite).");
    invited = shown->kind == crypto::InvitationKind::verifier ? trust::Invitation::verifier
                                                              : trust::Invitation::worker;
  }
  if (!advance(Stage::proof, Stage::welcome)) return;
  jobs::Arrival arrival{.session = parts_.id,
                        .hello = hello_,
                        .blob_token = to_hex(random<Hash>().bytes),
                        .prefix = parts_.prefix,
                        .invitation = invited};
  tell([arrival = std::move(arrival)](jobs::Core& core, jobs::Moment now) {
    core.sessions().arrive(arrival, now);
  });
}

void Session::resume(const protocol::Resume& resume) {
  if (std::exchange(resumed_, true))
    return refuse(ErrorCode::invalid_argument, "A session resumes once.");
  std::vector<protocol::HeldTask> held;
  protocol::Cancel unproven{.tasks = {},
                            .reason = "Nothing shows that this was leased to the worker."};
  for (const auto& task : resume.held) {
    const Hash proof = jobs::lease_proof(parts_.secret, jobs::LeaseKind::task, task.task,
                                         task.attempt, hello_.key);
    const bool was_leased = crypto::equal_in_constant_time(task.proof.span(), proof.span());
    (was_leased ? held : unproven.tasks).push_back(task);
  }
  held_.with([&](auto& tasks) {
    for (const auto& task : held) tasks.try_emplace({task.task, task.attempt});
  });
  for (const auto& task : held) {
    allow_upload(task.task.job, {.index = task.task.index, .attempt = task.attempt});
    parts_.book.worker_blobs().allow_read(hello_.key, task.task.job, {});
  }
  if (!unproven.tasks.empty()) {
    for (auto& task : unproven.tasks) task.proof = {};
    parts_.connection->send_text(
        protocol::encode(protocol::CoordinatorMessage(std::move(unproven))));
  }
  tell([id = parts_.id, held = std::move(held)](jobs::Core& core, jobs::Moment now) {
    core.sessions().resume(id, held, now);
  });
}

void Session::result(protocol::ResultFrame frame) {
  const protocol::HeldTask held{.task = frame.result.task, .attempt = frame.result.attempt};
  const auto refused = [&](Error why) {
    tell([id = parts_.id, held, why = std::move(why)](jobs::Core& core, jobs::Moment now) {
      core.results().refuse(id, held, why, now);
    });
  };
  auto range = held_range(held.task, held.attempt);
  if (!range) {
    return refused(
        {ErrorCode::not_found, weft::format("The worker does not hold attempt {} of task {}.",
                                            held.attempt, held.task.text())});
  }
  const auto manifest = parts_.book.manifest(held.task.job);
  if (!manifest) return refused({ErrorCode::not_found, "The job has ended."});
  if (range->count == 0) range.reset();
  const auto room = room_for(frame.result);
  if (!room) return refused(room.error());
  if (auto taken = parts_.intake.take(*manifest, frame, range, *room); !taken)
    return refused(taken.error());
  jobs::Delivery delivery{
      .session = parts_.id, .worker = hello_.key, .result = std::move(frame.result)};
  tell([delivery = std::move(delivery)](jobs::Core& core, jobs::Moment now) {
    core.results().deliver(delivery, now);
  });
}

bool Session::is_leased(const protocol::ReceiptItem& item) {
  const auto range = held_range(item.task, item.attempt);
  const auto manifest = parts_.book.manifest(item.task.job);
  if (!range || !manifest || item.task.index >= manifest->split.tasks) return false;
  const bool whole =
      range->count == 0 || *range == manifest::task_range(*manifest, item.task.index);
  return whole ? item.count == 0 : item.first == range->first && item.count == range->count;
}

void Session::receipt(const protocol::Receipt& receipt) {
  if (std::ranges::any_of(receipt.items,
                          [](const auto& item) { return item.count == 0 && item.first != 0; }))
    return refuse(ErrorCode::invalid_argument, "A whole task has no first workgroup.");
  const std::vector<proof::Claim> claims = protocol::claims_of(receipt.items);
  ByteVector statement = proof::receipt_statement({.genesis = parts_.genesis,
                                                   .program = parts_.program,
                                                   .coordinator = parts_.coordinator,
                                                   .session = nonce_,
                                                   .worker = hello_.nonce},
                                                  claims);
  const Hash digest = crypto::sha256(statement);
  if (!crypto::verify_now(hello_.key, digest.span(), receipt.signature)) {
    return refuse(ErrorCode::unauthenticated, "The receipt's signature does not fit.");
  }
  const auto hand_on = [&](jobs::CoveringReceipt covering) {
    tell([covering = std::move(covering)](jobs::Core& core, jobs::Moment now) {
      core.results().receipt(covering, now);
    });
  };
  for (const auto& item : receipt.items) {
    auto earlier = parts_.earlier ? parts_.earlier->contradicted(hello_.key, item) : std::nullopt;
    if (!earlier) continue;
    earlier->session = parts_.id;
    hand_on(std::move(*earlier));
    break;  // One is enough.
  }
  ByteVector text = proof::claims_text(claims);
  jobs::CoveringReceipt covering{.session = parts_.id,
                                 .receipt = {.digest = digest,
                                             .worker = hello_.key,
                                             .session_nonce = nonce_,
                                             .signature = receipt.signature,
                                             .claims = crypto::sha256(text)},
                                 .items = {},
                                 .unleased = {},
                                 .statement = std::move(statement),
                                 .claims = std::move(text)};
  for (const auto& item : receipt.items)
    (is_leased(item) ? covering.items : covering.unleased).push_back(item);
  hand_on(std::move(covering));
}

}  // namespace weft::coordinator
