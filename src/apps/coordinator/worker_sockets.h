// The sockets of workers that compute tasks (/v1/worker). Each connection has a session
// (ingest/session.h).
//
// Threading: the route's handlers run on the server's threads; send(), close() and round_trip() may
// be called from any thread. Lifetime: outlives the server's handlers; the parts outlive the
// sockets.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apps/coordinator/ingest/intake.h"
#include "apps/coordinator/ingest/loop.h"
#include "apps/coordinator/ingest/session.h"
#include "common/base/guarded.h"
#include "common/crypto/keys.h"
#include "decisions/jobs/book.h"
#include "platform/net/server.h"

namespace weft::coordinator {

class WorkerSockets {
 public:
  struct Parts {
    const crypto::KeyPair& identity;  // The coordinator's key pair.
    jobs::Book& book;
    Intake& intake;
    const trust::Secret& secret;
    Loop& loop;
    // Runs the work of one session in order, on a thread other than the network's. Returns false if
    // too much work waits.
    std::function<bool(jobs::SessionId, std::function<void()>)> work;
    std::string invite_file;  // Told only to native workers on loopback.
    Hash genesis{};           // The chain's genesis hash (Session::Parts).
    PublicKey program{};
    const EarlierReceipts* earlier = nullptr;
  };
  explicit WorkerSockets(Parts parts) : parts_(std::move(parts)) {}
  WorkerSockets(const WorkerSockets&) = delete;

  [[nodiscard]] net::SocketRoute route();

  // Sends a message to a worker. Has no effect if its connection is closed.
  void send(jobs::SessionId id, const protocol::CoordinatorMessage& message) const;
  void close(jobs::SessionId id, const protocol::ErrorMessage& why) const;
  [[nodiscard]] std::optional<Duration> round_trip(jobs::SessionId id) const;

 private:
  void open(std::shared_ptr<net::Peer> peer);
  [[nodiscard]] std::shared_ptr<Session> find(jobs::SessionId id) const;

  const Parts parts_;
  Guarded<std::map<jobs::SessionId, std::shared_ptr<Session>>> sessions_;
};

}  // namespace weft::coordinator
