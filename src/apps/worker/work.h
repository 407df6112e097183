// The work a worker holds, from lease to verdict: a queue of leased tasks run one at a time (the next one's blobs are
// fetched meanwhile), outputs on their way, results awaiting their verdicts, receipts for batches of them, and beats while
// anything is leased.
//
// Threading and lifetime: the session's thread; may be destroyed at any time, what then still runs is heard by nobody.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "apps/worker/alive.h"
#include "apps/worker/blob_store.h"
#include "apps/worker/connection.h"
#include "apps/worker/events.h"
#include "apps/worker/host.h"
#include "apps/worker/job_loader.h"
#include "apps/worker/outbox.h"
#include "engine/exec/traffic.h"

namespace weft::worker {

class Work {
 public:
  struct Options {
    BlobStore::Options blobs;
    Outbox::Options outbox;
    Duration wall_max = std::chrono::seconds(30);  // For one task, whatever its lease says.
    std::size_t queue_max = 1024;
    std::size_t commitments_max = 4096;  // Results that could still be audited.
    std::size_t deliveries_max = 4;      // Results whose outputs are being uploaded.
    std::size_t receipt_items_max = 16;
    Duration receipt_delay = std::chrono::milliseconds(50);  // After the first result that is not in a receipt.
    Duration rest_told = std::chrono::milliseconds(250);     // A longer rest is worth telling, so that no task waits through it here.
    std::function<void(bool rests)> on_rest{};
  };

  Work(Host& host, TaskRunner& runner, Connection& connection, Options options, EventSink emit);

  void on_ready(const protocol::Welcome& welcome);
  void on_lease(const protocol::Lease& lease);
  void on_verdict(const protocol::Verdict& verdict);
  void on_cancel(const protocol::Cancel& cancel);
  void on_open(const protocol::OpenChunks& asked);

  // Gives up what is queued, lets what runs finish within `grace`, sends what is ready; then calls `done`, once.
  void finish(Duration grace, std::function<void()> done);
  // Share of the time spent on tasks, in (0, 1]. A rest under way is over.
  void throttle(double share);

  // Leased: queued, running, or with outputs on their way.
  [[nodiscard]] std::size_t held() const { return queue_.size() + (running_ ? 1 : 0) + deliveries_.size(); }
  [[nodiscard]] bool is_running() const { return running_.has_value(); }
  [[nodiscard]] std::size_t unanswered() const { return outbox_.size(); }
  [[nodiscard]] std::uint64_t fetched_bytes() const { return blobs_.fetched_bytes(); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  struct LeaseTerms {
    Hash manifest;
    std::uint32_t piece_workgroups_max = 0;
    Duration wall_max{};
  };
  struct Queued {
    TaskKey key;
    manifest::Range range;
    std::shared_ptr<const LeaseTerms> terms;
  };
  struct Running {
    TaskKey key;
    std::uint64_t serial = 0;
    bool on_runner = false;  // Otherwise its job is still being loaded.
    std::optional<std::string> cancelled;
    Instant began;
  };
  // A result whose larger outputs are being uploaded.
  struct Delivery {
    std::uint64_t serial = 0;
    protocol::ResultFrame frame;
    std::size_t uploads = 0;
    std::optional<Error> error;
  };

  void run_next();
  void run(const Queued& task, const std::shared_ptr<const exec::Job>& job);
  void end_running(Duration rest);
  void rest(Duration rest);
  void end_rest();
  void succeed(const TaskKey& key, exec::Output output, const exec::Job& job, const exec::Traffic& traffic);
  void fail_task(const TaskKey& key, Error error);
  struct Upload {
    TaskKey key;
    std::uint64_t delivery = 0;  // Its serial.
    Hash hash;
    std::shared_ptr<const ByteVector> bytes;
    int attempt = 1;
  };
  void upload(Upload upload);
  void uploaded(const TaskKey& key, Result<> result);
  [[nodiscard]] bool is_wanted(const Upload& upload) const;
  void send_results();
  void send_receipt();
  void beat();
  void check_finished();
  [[nodiscard]] bool holds(const TaskKey& key) const;

  Host& host_;
  TaskRunner& runner_;
  Connection& connection_;
  const Options options_;
  EventSink emit_;
  BlobStore blobs_;
  JobLoader loader_;
  Outbox outbox_;
  std::deque<Queued> queue_;
  std::optional<Running> running_;
  std::map<TaskKey, Delivery> deliveries_;
  // What results without a verdict committed to, for audits: the leaves of each output.
  std::map<TaskKey, std::vector<std::vector<Hash>>> commitments_;
  Counters counters_;
  std::string token_;
  Duration beat_every_ = std::chrono::seconds(1);
  bool beating_ = false;
  bool receipt_due_ = false;
  std::size_t receipts_signing_ = 0;
  std::uint64_t serial_ = 0;
  double share_ = 1;
  bool resting_ = false;
  std::uint64_t rests_ = 0;
  bool finishing_ = false;
  std::function<void()> finished_;
  Alive alive_;
};

}  // namespace weft::worker
