// The workers that are connected, what is sent to them, and those that left lately.
//
// A message goes out when what it tells is durable, and in the order in which messages were sent.
// One that acknowledges nothing (a lease) may go out at once, unless others to the worker wait.
//
// Threading: one thread. Bounds: CoreSettings::workers_max workers, a share of them kept for known
// ones (workers_known_share); departed_max that left.
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
  std::string prefix;  // As Arrival has it.
  UnixMillis since = 0;
  Coverings coverings;
  std::set<TaskId> undecided;  // Its results that wait for a check.
  std::uint32_t waiting = 0;   // Messages to it that wait for a commit, other than verdicts.
};

class ConnectedWorkers {
 public:
  ConnectedWorkers(World& world, Outbox& outbox, Book& book, const CoreSettings& settings)
      : world_(world), outbox_(outbox), book_(book), settings_(settings) {}
  ConnectedWorkers(const ConnectedWorkers&) = delete;

  // Null where it is not connected.
  [[nodiscard]] ConnectedWorker* find(const PublicKey& key);
  [[nodiscard]] ConnectedWorker* of_session(SessionId session);
  [[nodiscard]] const ConnectedWorker& at(const PublicKey& key) const { return workers_.at(key); }
  [[nodiscard]] bool contains(const PublicKey& key) const { return workers_.contains(key); }
  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] const std::map<PublicKey, ConnectedWorker>& all() const { return workers_; }

  // Fails if no more may join.
  [[nodiscard]] Result<> room_for(bool is_newcomer) const;
  // The key is not connected.
  void add(ConnectedWorker worker);
  // `view` is what is shown of it from now on.
  void remove(const PublicKey& key, protocol::api::Worker view);

  // Nothing where it is not connected.
  void send(const PublicKey& key, protocol::CoordinatorMessage message);
  void send_early(const PublicKey& key, protocol::CoordinatorMessage message);
  // Closes the session, when what was decided before is durable.
  void close(SessionId session, ErrorCode code, std::string message);

  // Those that left, the last one last.
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
