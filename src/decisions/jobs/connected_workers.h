// The connected workers, the messages to them, and the workers that left recently.
//
// A message goes out when the decision that it reports is durable, in the order in which messages
// were sent. A message that acknowledges nothing (a lease) may go out at once, unless other
// messages to that worker wait.
//
// Threading: one thread. Bounds: CoreSettings::workers_max workers, a share of them reserved for
// known workers (workers_known_share); departed_max workers that left.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "common/protocol/api.h"
#include "common/protocol/coordinator_message.h"
#include "common/protocol/hello.h"
#include "decisions/jobs/book.h"
#include "decisions/jobs/core_settings.h"
#include "decisions/jobs/coverings.h"
#include "decisions/jobs/outbox.h"

namespace weft::jobs {

struct ConnectedWorker {
  SessionId session{};
  protocol::Hello hello;
  std::string blob_token;
  std::string prefix;  // Address prefix of its network (Arrival::prefix).
  UnixMillis since = 0;
  Coverings coverings;
  std::set<TaskId> undecided;  // Tasks whose result from this worker waits for a check.
  // The number of messages to the worker, other than verdicts, that wait for a commit.
  std::uint32_t waiting = 0;
};

class ConnectedWorkers {
 public:
  ConnectedWorkers(World& world, Outbox& outbox, Book& book, const CoreSettings& settings)
      : world_(world), outbox_(outbox), book_(book), settings_(settings) {}
  ConnectedWorkers(const ConnectedWorkers&) = delete;

  // Returns null if the worker is not connected.
  [[nodiscard]] ConnectedWorker* find(const PublicKey& key);
  [[nodiscard]] ConnectedWorker* of_session(SessionId session);
  [[nodiscard]] const ConnectedWorker& at(const PublicKey& key) const { return workers_.at(key); }
  [[nodiscard]] bool contains(const PublicKey& key) const { return workers_.contains(key); }
  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] const std::map<PublicKey, ConnectedWorker>& all() const { return workers_; }

  // Fails if no more workers of this kind may connect.
  [[nodiscard]] Result<> room_for(bool is_newcomer) const;
  // Adds a worker whose key is not connected.
  void add(ConnectedWorker worker);
  // Removes a connected worker, which is shown as `view` from now on.
  void remove(const PublicKey& key, protocol::api::Worker view);

  // Send a message. They do nothing if the worker is not connected.
  void send(const PublicKey& key, protocol::CoordinatorMessage message);
  void send_early(const PublicKey& key, protocol::CoordinatorMessage message);
  // Closes the session once all earlier decisions are durable.
  void close(SessionId session, ErrorCode code, std::string message);

  // The workers that left, in the order in which they left.
  [[nodiscard]] const std::deque<protocol::api::Worker>& departed() const { return departed_; }
  void forget_departed(const PublicKey& key);

 private:
  World& world_;
  Outbox& outbox_;
  Book& book_;
  const CoreSettings& settings_;
  std::map<PublicKey, ConnectedWorker> workers_;
  std::unordered_map<SessionId, PublicKey> keys_;
  std::deque<protocol::api::Worker> departed_;
};

}  // namespace weft::jobs
