#include "apps/coordinator/session.h"

#include <algorithm>
#include <array>

#include "apps/coordinator/core.h"
#include "apps/coordinator/lease_proof.h"
#include "common/base/log.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/proof/receipt.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t message_bytes_max = 4096;  // As the protocol bounds it.

std::string text_of(const protocol::ErrorMessage& error) { return protocol::encode(protocol::CoordinatorMessage(error)); }

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
    if (!message) return self.refuse(message.error().code, message.error().message);
    self.handle(*message);
  });
}

void Session::on_binary(std::string bytes) {
  const std::size_t size = bytes.size();
  take(size, [bytes = std::move(bytes)](Session& self) {
    const Stage stage = self.stage_;
    if (stage == Stage::hello || stage == Stage::proof)
      return self.refuse(ErrorCode::unauthenticated, "A result comes before the worker has proven its key.");
    auto frame = protocol::decode_frame(as_bytes(bytes));
    if (!frame) return self.refuse(frame.error().code, frame.error().message);
    self.result(std::move(*frame));
  });
}

void Session::on_oversized(std::size_t bytes) {
  refuse_in_turn(ErrorCode::resource_exhausted, std::format("A frame of {} bytes is over the bound of {}.", bytes, protocol::frame_bytes_max));
}

// Behind the frames that came before; nothing is taken any more.
void Session::refuse_in_turn(ErrorCode code, std::string message) {
  if (closing_.exchange(true)) return;
  if (!parts_.work([self = shared_from_this(), code, message] { self->refuse(code, message); })) refuse(code, std::move(message));
}

void Session::on_closed() {
  const Stage before = stage_.exchange(Stage::ended);
  if (before != Stage::welcome) return;
  // In order behind the frames that came before. Where there is no room for it, the scheduler misses the worker's beats.
  const bool queued = parts_.work([self = shared_from_this()] {
    (void)self->parts_.core([self](Core& core, Moment now) { core.left(self->parts_.id, self->on_purpose_, now); });
  });
  if (!queued) log_debug("Session {} ends while the queue is full.", parts_.id);
}

void Session::take(std::size_t bytes, std::function<void(Session&)> handle) {
  if (stage_ == Stage::ended || closing_) return;
  if (waiting_bytes_.fetch_add(bytes) + bytes > waiting_bytes_max) {
    return refuse_in_turn(ErrorCode::resource_exhausted, std::format("More than {} bytes of this worker wait to be looked at.", waiting_bytes_max));
  }
  const bool queued = parts_.work([self = shared_from_this(), bytes, handle = std::move(handle)] {
    // What came before the end is still handled: a result is not lost because the connection broke right behind it.
    handle(*self);
    self->waiting_bytes_ -= bytes;
  });
  if (!queued) refuse(ErrorCode::unavailable, "The coordinator has too much to do; try again later.");
}

void Session::refuse(ErrorCode code, std::string message) {
  const Stage before = stage_.exchange(Stage::ended);
  if (before == Stage::ended) return;
  log_info("Session {} is refused: {}", parts_.id, message);
  parts_.line->send_text(text_of({.code = std::string(to_string(code)), .message = message.substr(0, message_bytes_max)}));
  parts_.line->close(message);
  if (before == Stage::welcome) {
    (void)parts_.core([id = parts_.id](Core& core, Moment now) { core.left(id, false, now); });
  }
}

void Session::tell(std::function<void(Core&, Moment)> event) {
  if (!parts_.core(std::move(event))) refuse(ErrorCode::unavailable, "The coordinator has too much to do; try again later.");
}

void Session::send(const protocol::CoordinatorMessage& message) {
  if (const auto* lease = std::get_if<protocol::Lease>(&message)) {
    held_.with([&](auto& held) {
      for (const auto& task : lease->tasks) {
        held.insert_or_assign({TaskId{.job = lease->job, .index = task.index}, task.attempt},
                              manifest::Range{.first = task.first, .count = task.count});
      }
    });
  }
  if (const auto* verdict = std::get_if<protocol::Verdict>(&message)) {
    held_.with([&](auto& held) { held.erase({verdict->task, verdict->attempt}); });
  }
  if (const auto* cancel = std::get_if<protocol::Cancel>(&message)) {
    held_.with([&](auto& held) {
      for (const auto& task : cancel->tasks) held.erase({task.task, task.attempt});
    });
  }
  if (stage_ != Stage::ended) parts_.line->send_text(protocol::encode(message));
}

void Session::end(const protocol::ErrorMessage& why) {
  if (stage_.exchange(Stage::ended) == Stage::ended) return;
  parts_.line->send_text(text_of(why));
  parts_.line->close(why.message);
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
    log_info("Worker of session {} reports: {}", parts_.id, error->message);
    return;
  }
  // After its end a session still hands on what had come before: the core knows whether it is connected.
  if (stage_ != Stage::welcome && stage_ != Stage::ended) {
    return refuse(ErrorCode::unauthenticated, "A worker says Hello and proves its key before anything else.");
  }
  const SessionId id = parts_.id;
  if (const auto* shown = std::get_if<protocol::Resume>(&message)) return resume(*shown);
  if (const auto* ready = std::get_if<protocol::TaskResult>(&message)) {
    if (std::ranges::any_of(ready->outputs, [](const auto& part) { return part.in_frame; })) {
      return refuse(ErrorCode::invalid_argument, "A result with bytes travels as a binary frame.");
    }
    return result({.result = *ready, .payload = {}});
  }
  if (const auto* signed_items = std::get_if<protocol::Receipt>(&message)) return receipt(*signed_items);
  if (const auto* opening = std::get_if<protocol::Opening>(&message)) {
    return tell([id, shown = *opening](Core& core, Moment now) { core.opened(id, shown, now); });
  }
  if (const auto* checkpoint = std::get_if<protocol::Checkpoint>(&message)) {
    return tell([id, told = *checkpoint](Core& core, Moment now) { core.checkpointed(id, told, now); });
  }
  if (const auto* failure = std::get_if<protocol::TaskFailed>(&message)) {
    return tell([id, told = *failure](Core& core, Moment now) { core.failed(id, told, now); });
  }
  if (const auto* wanted = std::get_if<protocol::Slots>(&message)) {
    return tell([id, count = wanted->slots](Core& core, Moment now) { core.slots(id, count, now); });
  }
  if (std::holds_alternative<protocol::Beat>(message)) {
    return tell([id](Core& core, Moment now) { core.beat(id, now); });
  }
  if (std::holds_alternative<protocol::Bye>(message)) {
    on_purpose_ = true;
    tell([id](Core& core, Moment now) { core.left(id, true, now); });
    stage_ = Stage::ended;
    parts_.line->close("goodbye");
  }
}

void Session::hello(const protocol::Hello& hello) {
  if (stage_ != Stage::hello) return refuse(ErrorCode::invalid_argument, "A worker says Hello once.");
  if (!std::ranges::contains(hello.versions, protocol::version)) {
    std::string offered;
    for (const auto version : hello.versions) offered += std::format("{}{}", offered.empty() ? "" : ", ", version);
    return refuse(ErrorCode::unsupported, std::format("This coordinator speaks version {} of the protocol; the worker offers {}.", protocol::version,
                                                      offered.empty() ? "none" : offered));
  }
  hello_ = hello;
  nonce_ = random<Hash>();
  if (!advance(Stage::hello, Stage::proof)) return;
  parts_.line->send_text(protocol::encode(protocol::Challenge{.version = protocol::version, .nonce = nonce_, .coordinator = parts_.coordinator}));
}

void Session::prove(const protocol::Prove& prove) {
  if (stage_ != Stage::proof) return refuse(ErrorCode::invalid_argument, "A worker proves its key once, after the challenge.");
  if (!crypto::verify_now(hello_.key, protocol::hello_digest(parts_.coordinator, nonce_, hello_.key), prove.signature)) {
    return refuse(ErrorCode::unauthenticated, "The signature does not fit the key.");
  }
  if (!advance(Stage::proof, Stage::welcome)) return;
  Arrival arrival{.session = parts_.id, .hello = hello_, .blob_token = to_hex(random<Hash>().bytes)};
  tell([arrival = std::move(arrival)](Core& core, Moment now) { core.arrive(arrival, now); });
}

void Session::resume(const protocol::Resume& resume) {
  if (std::exchange(resumed_, true)) return refuse(ErrorCode::invalid_argument, "A session resumes once.");
  std::vector<protocol::HeldTask> held;
  protocol::Cancel unproven{.tasks = {}, .reason = "Nothing shows that this was leased to the worker."};
  for (const auto& task : resume.held) {
    const bool was_leased = task.proof == lease_proof(parts_.secret, LeaseKind::task, task.task, task.attempt, hello_.key);
    (was_leased ? held : unproven.tasks).push_back(task);
  }
  held_.with([&](auto& tasks) {
    for (const auto& task : held) tasks.try_emplace({task.task, task.attempt});
  });
  if (!unproven.tasks.empty()) {
    for (auto& task : unproven.tasks) task.proof = {};
    parts_.line->send_text(protocol::encode(protocol::CoordinatorMessage(std::move(unproven))));
  }
  tell([id = parts_.id, held = std::move(held)](Core& core, Moment now) { core.resume(id, held, now); });
}

void Session::result(protocol::ResultFrame frame) {
  const protocol::HeldTask held{.task = frame.result.task, .attempt = frame.result.attempt};
  const auto refused = [&](Error why) {
    tell([id = parts_.id, held, why = std::move(why)](Core& core, Moment now) { core.refuse(id, held, why, now); });
  };
  auto range = held_range(held.task, held.attempt);
  if (!range) {
    return refused({ErrorCode::not_found, std::format("The worker does not hold attempt {} of task {}.", held.attempt, held.task.text())});
  }
  const auto manifest = parts_.book.manifest(held.task.job);
  if (!manifest) return refused({ErrorCode::not_found, "The job has ended."});
  if (range->count == 0) range.reset();
  if (auto taken = parts_.intake.take(*manifest, frame, range); !taken) return refused(taken.error());
  Delivery delivery{.session = parts_.id, .worker = hello_.key, .result = std::move(frame.result)};
  tell([delivery = std::move(delivery)](Core& core, Moment now) { core.deliver(delivery, now); });
}

void Session::receipt(const protocol::Receipt& receipt) {
  std::vector<proof::Claim> claims;
  claims.reserve(receipt.items.size());
  for (const auto& item : receipt.items) claims.push_back({.task = item.task, .attempt = item.attempt, .root = item.root});
  ByteVector statement = proof::receipt_statement(parts_.coordinator, nonce_, claims);
  const Hash digest = crypto::sha256(statement);
  if (!crypto::verify_now(hello_.key, digest.span(), receipt.signature)) {
    return refuse(ErrorCode::unauthenticated, "The receipt's signature does not fit.");
  }
  CoveringReceipt covering{.session = parts_.id,
                           .receipt = {.digest = digest, .worker = hello_.key, .session_nonce = nonce_, .signature = receipt.signature},
                           .items = receipt.items,
                           .statement = std::move(statement)};
  tell([covering = std::move(covering)](Core& core, Moment now) { core.receipt(covering, now); });
}

}  // namespace weft::coordinator
