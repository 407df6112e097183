#include "apps/coordinator/ingest/session.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "apps/coordinator/ingest/worker_messages.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/base/match.h"
#include "common/protocol/codec.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/result_intake.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::coordinator {

Session::Session(Parts parts)
    : parts_(std::move(parts)),
      life_(parts_.id, parts_.connection, parts_.core),
      handshake_({.coordinator = parts_.coordinator,
                  .sign = parts_.sign,
                  .host = parts_.host,
                  .invite_file = parts_.invite_file,
                  .genesis = parts_.genesis,
                  .program = parts_.program,
                  .prefix = parts_.prefix,
                  .without = parts_.without}),
      leases_(parts_.book, parts_.secret),
      results_(parts_.book, parts_.intake, leases_, parts_.prefix),
      receipts_(leases_, parts_.earlier) {}

void Session::on_text(std::string text) {
  const std::size_t bytes = text.size();
  take(bytes, [text = std::move(text)](Session& self) {
    const auto message = protocol::decode_worker_message(text);
    if (!message && message.error().code == ErrorCode::unsupported &&
        self.life_.stage() == Stage::hello)
      return self.life_.refuse_version(text, message.error());
    if (!message) return self.life_.refuse(message.error().code, message.error().message);
    self.handle(*message);
  });
}

void Session::on_binary(std::string bytes) {
  const std::size_t size = bytes.size();
  take(size, [bytes = std::move(bytes)](Session& self) {
    const Stage stage = self.life_.stage();
    if (stage == Stage::hello || stage == Stage::proof)
      return self.life_.refuse(ErrorCode::unauthenticated,
                               "The worker sends a result before it has proven its key.");
    auto frame = protocol::decode_frame(as_bytes(bytes));
    if (!frame) return self.life_.refuse(frame.error().code, frame.error().message);
    self.result(std::move(*frame));
  });
}

void Session::on_oversized(std::size_t bytes) {
  refuse_in_turn(
      ErrorCode::resource_exhausted,
      life_.stage() == Stage::welcome || bytes > protocol::frame_bytes_max
          ? weft::format("The frame has {} bytes; at most {} are read.", bytes,
                         protocol::frame_bytes_max)
          : weft::format(
                "The frame has {} bytes, too many for a worker that has not proven its key yet.",
                bytes));
}

// Refuses the worker after the frames that have already arrived were handled. From now on no frame
// is accepted.
void Session::refuse_in_turn(ErrorCode code, std::string message) {
  if (closing_.exchange(true)) return;
  if (!parts_.work(
          [self = shared_from_this(), code, message] { self->life_.refuse(code, message); }))
    life_.refuse(code, std::move(message));
}

void Session::on_closed() {
  if (!life_.lost()) return;
  // The core is told of the lost connection after all frames that arrived before the loss. If the
  // queue is full, the core is not told, and the scheduler notices the missing heartbeats instead.
  if (!parts_.work([self = shared_from_this()] { self->life_.left(); }))
    log_debug("Session {} ends while the queue is full.", parts_.id.number());
}

void Session::take(std::size_t bytes, std::function<void(Session&)> handle) {
  if (life_.stage() == Stage::ended || closing_) return;
  if (waiting_bytes_.fetch_add(bytes) + bytes > waiting_bytes_max) {
    return refuse_in_turn(ErrorCode::resource_exhausted,
                          weft::format("More than {} bytes that the worker sent wait to be read.",
                                       waiting_bytes_max));
  }
  const bool queued = parts_.work([self = shared_from_this(), bytes, handle = std::move(handle)] {
    // Frames that arrived before the connection was lost are still handled, so that a result is not
    // lost if the connection breaks right after it.
    handle(*self);
    self->waiting_bytes_ -= bytes;
  });
  if (!queued)
    life_.refuse(ErrorCode::unavailable, "The coordinator has too much to do; try again later.");
}

void Session::send(const protocol::CoordinatorMessage& message) {
  std::visit(Match{[&](const protocol::Lease& lease) { leases_.lease(handshake_.worker(), lease); },
                   [&](const protocol::Welcome&) {
                     parts_.connection->admit();
                     recognise();
                   },
                   [&](const protocol::Verdict& verdict) {
                     recognise();
                     leases_.drop(verdict.task, verdict.attempt);
                   },
                   [&](const protocol::Cancel& cancel) {
                     for (const auto& task : cancel.tasks) leases_.drop(task.task, task.attempt);
                   },
                   [&](const protocol::OpenStates& asked) {
                     leases_.open_states(handshake_.worker(), asked);
                   },
                   [](const auto&) {}},
             message);
  if (life_.stage() != Stage::ended)
    parts_.connection->send_text(protocol::encode(message, life_.spoken()));
}

void Session::recognise() {
  if (recognised_ || !parts_.book.is_known(handshake_.worker())) return;
  if (!recognised_.exchange(true)) parts_.connection->recognise();
}

void Session::handle(const protocol::WorkerMessage& message) {
  std::visit(Match{[&](const protocol::Hello& greeting) { hello(greeting); },
                   [&](const protocol::Prove& proof) { prove(proof); },
                   [&](const protocol::ErrorMessage& error) {
                     log_info("Worker of session {} reports: {}", parts_.id.number(),
                              error.message);
                   },
                   [&](const auto& other) {
                     // A session that has ended still passes on frames that arrived before its end;
                     // the core knows whether the session is connected.
                     const Stage stage = life_.stage();
                     if (stage != Stage::welcome && stage != Stage::ended)
                       return life_.refuse(
                           ErrorCode::unauthenticated,
                           "A worker must send Hello and prove its key before any other message.");
                     said(other);
                   }},
             message);
}

void Session::hello(const protocol::Hello& hello) {
  if (life_.stage() != Stage::hello)
    return life_.refuse(ErrorCode::invalid_argument,
                        "The worker has sent Hello already; it may send it once.");
  const auto challenge = handshake_.greet(hello);
  if (!challenge) return life_.refuse(challenge.error().code, challenge.error().message);
  life_.speak(challenge->version);
  if (life_.advance(Stage::hello, Stage::proof))
    parts_.connection->send_text(protocol::encode(*challenge, life_.spoken()));
}

void Session::prove(const protocol::Prove& prove) {
  if (life_.stage() != Stage::proof)
    return life_.refuse(ErrorCode::invalid_argument,
                        "A worker may prove its key only once, after the challenge.");
  auto arrival = handshake_.prove(parts_.id, prove);
  if (!arrival) return life_.refuse(arrival.error().code, arrival.error().message);
  if (!life_.advance(Stage::proof, Stage::welcome)) return;
  life_.tell([arrival = std::move(*arrival)](jobs::Core& core, jobs::Moment now) {
    core.sessions().arrive(arrival, now);
  });
}

void Session::said(const protocol::Resume& resume) {
  if (std::exchange(resumed_, true))
    return life_.refuse(ErrorCode::invalid_argument,
                        "The session was resumed already; it may be resumed once.");
  auto [held, unproven] = leases_.resume(handshake_.worker(), resume);
  if (!unproven.empty())
    parts_.connection->send_text(protocol::encode(
        protocol::CoordinatorMessage(protocol::Cancel{
            .tasks = std::move(unproven),
            .reason = "The coordinator has no proof that it leased this task to the worker."}),
        life_.spoken()));
  life_.tell([id = parts_.id, held = std::move(held)](jobs::Core& core, jobs::Moment now) {
    core.sessions().resume(id, held, now);
  });
}

void Session::said(const protocol::TaskResult& ready) {
  if (std::ranges::any_of(ready.outputs, [](const auto& part) { return part.in_frame; }))
    return life_.refuse(ErrorCode::invalid_argument,
                        "A result with an output's bytes must be sent as a binary frame.");
  result({.result = ready, .payload = {}});
}

void Session::said(const protocol::Receipt& receipt) {
  auto coverings = receipts_.check(parts_.id, handshake_.worker(),
                                   {.genesis = parts_.genesis,
                                    .program = parts_.program,
                                    .coordinator = parts_.coordinator,
                                    .session = handshake_.nonce(),
                                    .worker = handshake_.worker_nonce()},
                                   receipt);
  if (!coverings) return life_.refuse(coverings.error().code, coverings.error().message);
  for (auto& covering : *coverings) {
    life_.tell([covering = std::move(covering)](jobs::Core& core, jobs::Moment now) {
      core.results().receipt(covering, now);
    });
  }
}

void Session::said(const protocol::Bye& /*bye*/) { life_.leave(); }

template <class Message>
void Session::said(const Message& message) {
  life_.tell(event_of(parts_.id, parts_.intake, message));
}

void Session::result(protocol::ResultFrame frame) {
  if (const auto taken = results_.take(handshake_.worker(), frame); !taken) {
    const protocol::HeldTask held{.task = frame.result.task, .attempt = frame.result.attempt};
    return life_.tell(
        [id = parts_.id, held, why = taken.error()](jobs::Core& core, jobs::Moment now) {
          core.results().refuse(id, held, why, now);
        });
  }
  jobs::Delivery delivery{
      .session = parts_.id, .worker = handshake_.worker(), .result = std::move(frame.result)};
  life_.tell([delivery = std::move(delivery)](jobs::Core& core, jobs::Moment now) {
    core.results().deliver(delivery, now);
  });
}

}  // namespace weft::coordinator
