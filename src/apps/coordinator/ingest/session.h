// One worker's connection, from Hello to its end. Enforces the order of the protocol and passes
// each message on. A message that is malformed, out of order, of another version or too large is
// answered with one ErrorMessage, and the connection closes; other workers are not affected.
//
// Each part has one task: SessionLife the stage and the end, Handshake the keys, HeldLeases the
// leased tasks, ResultDelivery and ReceiptCheck their results, worker_messages.h the messages that
// go to the core unchanged.
//
// Threading: frames of one session are handled one at a time (a Pool's key); send() comes from the
// core's thread. Bounds: waiting_bytes_max bytes of frames wait to be handled.
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
    std::function<Signature(ByteSpan)> sign;  // Signs with the coordinator's key.
    std::string host;                         // Host of the worker's URL (canonical_host).
    jobs::Book& book;
    Intake& intake;
    std::shared_ptr<WorkerConnection> connection;
    const trust::Secret& secret;  // Makes leases' proofs; outlives the session.
    PostEvent core;               // Posts events to the core.
    PostWork work;                // Runs work in order, off the network's thread.
    // The path of the invitation file, which native workers on loopback are told; empty if no
    // worker is told.
    std::string invite_file = {};
    // The chain and program for which receipts count; zeros if the coordinator has no chain.
    Hash genesis{};
    PublicKey program{};
    const EarlierReceipts* earlier = nullptr;  // Null if no receipts were stored.
    std::string prefix{};                      // The worker's network: net::address_prefix().
    // The level of invitation of workers that present no invitation; tests raise it.
    trust::Invitation without = trust::Invitation::none;
  };
  explicit Session(Parts parts);
  Session(const Session&) = delete;

  // The network calls these functions when a frame has arrived, or was refused as too large, and
  // when the connection is closed.
  void on_text(std::string text);
  void on_binary(std::string bytes);
  void on_oversized(std::size_t bytes);
  void on_closed();

  // The core calls these functions to send a message to the worker and to end the session.
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
  // Marks the connection as known if its worker is invited or established, even if the worker
  // became so only in this session.
  void recognise();

  // Messages of a worker after its handshake, one function for each kind.
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
  std::atomic<bool> closing_ = false;  // The network's thread has queued a refusal.
  bool resumed_ = false;
  std::atomic<bool> recognised_ = false;
};

}  // namespace weft::coordinator
