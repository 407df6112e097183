// One worker's connection, from Hello to its end: the protocol's order, and what each message goes
// to. Whatever is malformed, out of order, of another version or too large is answered with one
// ErrorMessage, and the connection closes; other workers do not notice.
//
// The parts have one idea each: SessionLife the stage and the end, Handshake the keys, HeldLeases
// what the worker was given, ResultDelivery and ReceiptCheck what comes of it, worker_messages.h
// what goes to the core as it is.
//
// Threading: frames of one session are handled one at a time (a Pool's key); send() comes from the
// core's thread. Bounds: bytes of frames that wait for their turn.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/coordinator/ingest/handshake.h"
#include "apps/coordinator/ingest/held_leases.h"
#include "apps/coordinator/ingest/intake.h"
#include "apps/coordinator/ingest/receipt_check.h"
#include "apps/coordinator/ingest/result_delivery.h"
#include "apps/coordinator/ingest/session_life.h"
#include "apps/coordinator/ingest/worker_connection.h"
#include "common/protocol/messages_fwd.h"
#include "common/protocol/result_frame.h"
#include "decisions/jobs/book.h"
#include "decisions/trust/draw.h"
#include "decisions/trust/levels.h"

namespace weft::coordinator {

class EarlierReceipts;

class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Parts {
    jobs::SessionId id{};
    PublicKey coordinator;
    std::function<Signature(ByteSpan)> sign;  // With the coordinator's key.
    std::string host;  // What the worker's connection asked for (canonical_host).
    jobs::Book& book;
    Intake& intake;
    std::shared_ptr<WorkerConnection> connection;
    const trust::Secret& secret;  // For leases' proofs; outlives the session.
    PostEvent core;               // Events for the core.
    PostWork work;                // Runs in order, off the network's thread.
    // Told to native workers that come over loopback; empty: none are.
    std::string invite_file = {};
    // The chain on which receipts count; zeros: none.
    Hash genesis{};
    PublicKey program{};
    const EarlierReceipts* earlier = nullptr;  // Null: nothing was stored before.
    // The invitation of workers that show none. Tests have workers that need none.
    std::string prefix{};  // The worker's network, as net::address_prefix() has it.
    trust::Invitation without = trust::Invitation::none;
  };
  explicit Session(Parts parts);
  Session(const Session&) = delete;

  // From the network.
  void on_text(std::string text);
  void on_binary(std::string bytes);
  void on_oversized(std::size_t bytes);
  void on_closed();

  // From the core.
  void send(const protocol::CoordinatorMessage& message);
  void end(const protocol::ErrorMessage& why) { life_.end(why); }
  [[nodiscard]] std::optional<Duration> round_trip() const {
    return parts_.connection->round_trip();
  }

 private:
  using Stage = SessionLife::Stage;
  static constexpr std::size_t waiting_bytes_max = std::size_t{32} << 20;

  void take(std::size_t bytes, std::function<void(Session&)> handle);
  void refuse_in_turn(ErrorCode code, std::string message);
  void handle(const protocol::WorkerMessage& message);
  void hello(const protocol::Hello& hello);
  void prove(const protocol::Prove& prove);
  // Once its worker is invited or established, also by work of this session.
  void recognise();

  // What a welcome worker says.
  void said(const protocol::Resume& resume);
  void said(const protocol::TaskResult& result);
  void said(const protocol::Receipt& receipt);
  void said(const protocol::Bye& bye);
  template <class Message>
  void said(const Message& message);
  void result(protocol::ResultFrame frame);

  const Parts parts_;
  SessionLife life_;
  Handshake handshake_;
  HeldLeases leases_;
  const ResultDelivery results_;
  const ReceiptCheck receipts_;
  std::atomic<std::size_t> waiting_bytes_ = 0;
  std::atomic<bool> closing_ = false;  // Refused on the network's thread, and not yet in its turn.
  bool resumed_ = false;
  std::atomic<bool> recognised_ = false;
};

}  // namespace weft::coordinator
