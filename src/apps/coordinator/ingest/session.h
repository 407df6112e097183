// One worker's connection, from Hello to its end: the protocol's order, the proof of the key, the
// signatures of receipts, and the checks of results. Whatever is malformed, out of order, of
// another version or too large is answered with one ErrorMessage, and the connection closes; other
// workers do not notice.
//
// Threading: frames of one session are handled one at a time (a Pool's key); send() comes from the
// core's thread. Bounds: bytes of frames that wait for their turn.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "apps/coordinator/ingest/intake.h"
#include "common/base/guarded.h"
#include "common/manifest/split.h"
#include "common/protocol/messages_fwd.h"
#include "common/protocol/result_frame.h"
#include "decisions/jobs/book.h"
#include "decisions/trust/draw.h"
#include "decisions/trust/levels.h"

namespace weft::jobs {
class Core;
}

namespace weft::coordinator {

class EarlierReceipts;

// The connection to the worker, and the ways to the core and to a pool, that a session speaks with.
class WorkerConnection {
 public:
  virtual ~WorkerConnection() = default;
  virtual void send_text(std::string text) = 0;
  virtual void close(std::string reason) = 0;
  // The worker is welcome: the bounds of strangers count no more.
  virtual void admit() {}
  // It is invited or established: its connection keeps its place where strangers hold all others.
  virtual void recognise() {}
  // Round trip of the last ping; nothing if none was answered yet.
  [[nodiscard]] virtual std::optional<Duration> round_trip() const { return std::nullopt; }
};
using PostEvent = std::function<bool(std::function<void(jobs::Core&, jobs::Moment)>)>;
using PostWork = std::function<bool(std::function<void()>)>;

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
  void end(const protocol::ErrorMessage& why);
  [[nodiscard]] std::optional<Duration> round_trip() const {
    return parts_.connection->round_trip();
  }

 private:
  enum class Stage : std::uint8_t { hello, proof, welcome, ended };
  static constexpr std::size_t waiting_bytes_max = std::size_t{32} << 20;

  void take(std::size_t bytes, std::function<void(Session&)> handle);
  void handle(const protocol::WorkerMessage& message);
  void hello(const protocol::Hello& hello);
  void prove(const protocol::Prove& prove);
  void resume(const protocol::Resume& resume);
  void result(protocol::ResultFrame frame);
  void receipt(const protocol::Receipt& receipt);
  void refuse(ErrorCode code, std::string message);
  void refuse_version(std::string_view text, const Error& why);
  void refuse_in_turn(ErrorCode code, std::string message);
  // Once its worker is invited or established, also by work of this session.
  void recognise();
  void tell(std::function<void(jobs::Core&, jobs::Moment)> event);
  [[nodiscard]] bool advance(Stage from, Stage to);
  // What the worker may store for a lease: its outputs, and its states.
  void allow_upload(const JobId& job, const protocol::LeasedTask& task);
  // Whose room the outputs in the frame of a result take; permission_denied for more than leases
  // allow.
  [[nodiscard]] Result<std::optional<store::Room::For>> room_for(
      const protocol::TaskResult& result);
  // What it was leased of the task; an empty range stands for the whole.
  [[nodiscard]] std::optional<manifest::Range> held_range(const TaskId& task,
                                                          std::uint32_t attempt);
  // Whether the worker holds a lease of what the item says that it has done.
  [[nodiscard]] bool is_leased(const protocol::ReceiptItem& item);

  const Parts parts_;
  std::atomic<Stage> stage_ = Stage::hello;
  std::atomic<std::uint32_t> answers_in_ = protocol::version;  // Errors: what the worker reads.
  std::atomic<std::size_t> waiting_bytes_ = 0;
  std::atomic<bool> on_purpose_ = false;
  std::atomic<bool> closing_ = false;  // Refused on the network's thread, and not yet in its turn.
  protocol::Hello hello_;
  Hash nonce_;
  bool resumed_ = false;
  std::atomic<bool> recognised_ = false;
  // Tasks that the worker was given, or says that it holds: nothing else of it is looked at, let
  // alone stored.
  Guarded<std::map<std::pair<TaskId, std::uint32_t>, manifest::Range>> held_;
};

}  // namespace weft::coordinator
