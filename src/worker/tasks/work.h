// The work of a worker, from lease to verdict: a queue of leased tasks (the blobs of the next one
// are fetched ahead), resident tasks (residents.h), outputs that are being uploaded (deliveries.h),
// results that wait for their verdicts and receipts for batches of them (result_sender.h), and
// heartbeats while anything is leased.
//
// Threading and lifetime: the session's thread; may be destroyed at any time; results of work that
// still runs are then dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "worker/tasks/alive.h"
#include "worker/tasks/blob_store.h"
#include "worker/tasks/connection.h"
#include "worker/tasks/deliveries.h"
#include "worker/tasks/events.h"
#include "worker/tasks/host.h"
#include "worker/tasks/job_loader.h"
#include "worker/tasks/lease_proofs.h"
#include "worker/tasks/leased_task.h"
#include "worker/tasks/openings.h"
#include "worker/tasks/outbox.h"
#include "worker/tasks/residents.h"
#include "worker/tasks/rests.h"
#include "worker/tasks/result_sender.h"
#include "worker/tasks/signing_memory.h"

namespace weft::worker {

class Work final : private Residents::Around {
 public:
  struct Options {
    BlobStore::Options blobs;
    JobLoader::Options jobs;
    Outbox::Options outbox;
    // Time limit of one task; a lease cannot raise it.
    Duration wall_max = std::chrono::seconds(30);
    std::size_t queue_max = 1024;
    std::size_t commitments_max = 4096;  // Results that could still be audited.
    // States between groups of steps, of all tasks and of all results that could still be checked.
    std::uint64_t step_state_bytes_max = std::uint64_t{256} << 20;
    std::size_t deliveries_max = 4;  // Results whose outputs are being uploaded.
    std::size_t receipt_items_max = proof::receipt_claims_max;
    Duration receipt_delay =
        std::chrono::milliseconds(50);  // The delay after the first result without a receipt.
    std::uint32_t slices = 0;           // Resident tasks at a time; 0: one, with all of the memory.
    std::uint64_t slice_memory_bytes = 0;  // The size of a partition, if its job needs no more.
    std::uint64_t memory_bytes = 0;        // The memory of all partitions.
    Duration slice = std::chrono::milliseconds(
        200);  // The target time of a part of a task if several tasks share the device.
    std::uint64_t checkpoint_bytes_max = std::uint64_t{256} << 20;
    Duration rest_told = std::chrono::milliseconds(
        250);  // The shortest rest that is reported, so that no task waits here during it.
    std::function<void(bool rests)> on_rest{};
    // The roots that this device has signed; must outlive the work. Null, in tests alone: signed
    // roots are not remembered.
    SigningMemory* signing = nullptr;
  };

  Work(Host& host, TaskRunner& runner, Connection& connection, const Options& options,
       EventSink emit);

  void on_ready(const protocol::Welcome& welcome);
  void on_lease(const protocol::Lease& lease);
  void on_verdict(const protocol::Verdict& verdict);
  void on_cancel(const protocol::Cancel& cancel);
  void on_yield(const protocol::Yield& yield);
  // The data by which the coordinator may open results that have no verdict yet.
  [[nodiscard]] Openings& openings() { return openings_; }

  // Gives up queued tasks, lets running tasks finish within `grace`, sends the results that are
  // ready; then calls `done`, once.
  void finish(Duration grace, std::function<void()> done);
  // Sets the share of the time that is spent on tasks, in (0, 1]. Ends a rest that is under way.
  void throttle(double share);

  // The number of leased tasks: queued, resident, or with outputs that are being uploaded.
  [[nodiscard]] std::size_t held() const {
    return queue_.size() + residents_.size() + deliveries_.size();
  }
  [[nodiscard]] bool is_running() const { return residents_.size() > 0; }
  [[nodiscard]] std::size_t unanswered() const { return results_.size(); }
  [[nodiscard]] std::uint64_t fetched_bytes() const { return blobs_.fetched_bytes(); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  // Functions of Residents::Around.
  std::optional<LeasedTask> next_task() override;
  void fetch_ahead() override;
  void computed(const LeasedTask& task, Residents::Computed computed,
                const exec::Job& job) override;
  void failed(const TaskKey& key, Error error) override;
  void checkpointed(const TaskKey& key, const protocol::Checkpoint& checkpoint) override;
  void left() override;

  // The outputs of a result are uploaded, or cannot be.
  void delivered(const TaskKey& key, Delivered result);
  void enqueue(const protocol::Lease& lease);
  void beat();
  void check_finished();
  [[nodiscard]] bool holds(const TaskKey& key) const;

  Host& host_;
  Connection& connection_;
  const Options options_;
  EventSink emit_;
  WorkSession session_;
  BlobStore blobs_;
  JobLoader loader_;
  std::deque<LeasedTask> queue_;
  Rests rests_;
  Residents residents_;
  Deliveries deliveries_;
  ResultSender results_;
  Openings openings_;
  LeaseProofs proofs_;
  Counters counters_;
  Duration beat_every_ = std::chrono::seconds(1);
  bool beating_ = false;
  bool finishing_ = false;
  std::function<void()> finished_;
  Alive alive_;
};

}  // namespace weft::worker
