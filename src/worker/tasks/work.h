// The work a worker holds, from lease to verdict: a queue of leased tasks (the next one's blobs are
// fetched meanwhile), those that are resident, outputs on their way, results awaiting their
// verdicts, receipts for batches of them, and beats while anything is leased.
//
// One task is resident at a time, or as many as there are slices; the device runs a part of one of
// them (progress.h), then a part of whichever is next (slices.h). Between two parts a long task's
// state goes out as a checkpoint, and one that is to yield stops.
//
// Threading and lifetime: the session's thread; may be destroyed at any time; results of work that
// still runs are then dropped.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/traffic.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/blob_store.h"
#include "worker/tasks/connection.h"
#include "worker/tasks/events.h"
#include "worker/tasks/host.h"
#include "worker/tasks/job_loader.h"
#include "worker/tasks/outbox.h"
#include "worker/tasks/progress.h"
#include "worker/tasks/signing_memory.h"
#include "worker/tasks/slices.h"

namespace weft::worker {

class Work {
 public:
  struct Options {
    BlobStore::Options blobs;
    JobLoader::Options jobs;
    Outbox::Options outbox;
    Duration wall_max = std::chrono::seconds(30);  // For one task, whatever its lease says.
    std::size_t queue_max = 1024;
    std::size_t commitments_max = 4096;  // Results that could still be audited.
    std::size_t deliveries_max = 4;      // Results whose outputs are being uploaded.
    std::size_t receipt_items_max = proof::receipt_claims_max;
    Duration receipt_delay =
        std::chrono::milliseconds(50);  // After the first result that is not in a receipt.
    std::uint32_t slices = 0;  // Tasks that are resident at a time; 0: one, with all of the memory.
    std::uint64_t slice_memory_bytes = 0;  // A partition, where its job does not require more.
    std::uint64_t memory_bytes = 0;        // Memory of all partitions.
    Duration slice = std::chrono::milliseconds(
        200);  // What a part of a task takes at best, where several share the device.
    std::uint64_t checkpoint_bytes_max = std::uint64_t{256} << 20;
    Duration rest_told = std::chrono::milliseconds(
        250);  // A longer rest is worth telling, so that no task waits through it here.
    std::function<void(bool rests)> on_rest{};
    // What this device has signed; outlives the work. Null: nothing is remembered, in tests alone.
    SigningMemory* signing = nullptr;
  };

  Work(Host& host, TaskRunner& runner, Connection& connection, const Options& options,
       EventSink emit);

  void on_ready(const protocol::Welcome& welcome);
  void on_lease(const protocol::Lease& lease);
  void on_verdict(const protocol::Verdict& verdict);
  void on_cancel(const protocol::Cancel& cancel);
  void on_yield(const protocol::Yield& yield);
  void on_open(const protocol::OpenChunks& asked);

  // Gives up what is queued, lets what runs finish within `grace`, sends what is ready; then calls
  // `done`, once.
  void finish(Duration grace, std::function<void()> done);
  // Share of the time spent on tasks, in (0, 1]. A rest under way is over.
  void throttle(double share);

  // Leased: queued, resident, or with outputs on their way.
  [[nodiscard]] std::size_t held() const {
    return queue_.size() + residents_.size() + deliveries_.size();
  }
  [[nodiscard]] bool is_running() const { return !residents_.empty(); }
  [[nodiscard]] std::size_t unanswered() const { return outbox_.size(); }
  [[nodiscard]] std::uint64_t fetched_bytes() const { return blobs_.fetched_bytes(); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  struct LeaseTerms {
    Hash manifest;
    std::uint32_t piece_workgroups_max = 0;
    Duration wall_max{};
    Duration checkpoint_every{};  // At least; zero: none are wanted.
    PublicKey client;
    double weight = 1;
  };
  struct Queued {
    TaskKey key;
    manifest::Range range;
    std::shared_ptr<const LeaseTerms> terms;
    std::optional<protocol::ResumePoint> resume;
  };
  struct Resident {
    Queued task;
    std::uint64_t serial = 0;
    std::shared_ptr<const exec::Job> job;
    std::optional<Progress> progress;  // Once its job is loaded.
    bool admitted = false;             // To the slices.
    bool yields = false;               // It stops at its next checkpoint,
    bool leaving = false;              // which is on its way.
    bool uploading = false;            // A checkpoint.
    bool keeps_state = true;           // False where its checkpoints were refused.
    std::optional<std::string> cancelled;
    Duration used{};
    double part_seconds = 0;  // The last time; 0: not known.
    Instant checkpointed;     // Or begun.
  };
  // A result whose larger outputs are being uploaded.
  struct Delivery {
    std::uint64_t serial = 0;
    protocol::ResultFrame frame;
    std::size_t uploads = 0;
    std::optional<Error> error;
    // The part of the task that it is about. Empty: the whole, so that a second result would be
    // evidence against this device. Parts (audits, polls) are asked for under the same attempt as
    // other parts of the task, and signed by another word.
    manifest::Range part{};
  };

  // work_residents.cpp
  // Whether a lease is of a whole task: its root then goes into the record of what was signed.
  [[nodiscard]] static bool is_whole(const manifest::Manifest& manifest, std::uint32_t index,
                                     manifest::Range range);
  void run_next();
  void take_in();
  void load(Resident& resident);
  void loaded(Resident& resident, const std::shared_ptr<const exec::Job>& job);
  void admit_loaded();
  void run_part();
  void part_ends(Resident& resident, std::uint32_t parts, Duration took,
                 Result<exec::Output> output);
  void rest_after(Duration took);
  // Between two parts; true where it leaves with it.
  bool checkpoint(Resident& resident);
  void checkpoint_arrives(std::uint64_t serial, const protocol::Checkpoint& checkpoint,
                          const Result<>& result);
  [[nodiscard]] Duration checkpoint_interval(const Resident& resident) const;
  [[nodiscard]] std::uint64_t partition_of(const Resident& resident) const;
  [[nodiscard]] Resident* resident_of(std::uint64_t serial);
  [[nodiscard]] Resident* resident_of(const TaskKey& key);
  void remove(std::uint64_t serial);

  void forget_proofs();
  void rest(Duration rest);
  void end_rest();
  void succeed(const Queued& task, exec::Output output, const exec::Job& job, double resumed);
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
  // Once its outputs are there: asks whether its root may be signed, then hands it on.
  void admit(const TaskKey& key);
  void deliver(const TaskKey& key);
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
  std::vector<std::unique_ptr<Resident>> residents_;
  std::optional<std::uint64_t> on_runner_;  // The serial of the one that the runner has a part of.
  Slices slices_;
  std::map<TaskKey, Delivery> deliveries_;
  // What results without a verdict committed to, for audits: the leaves of each output.
  std::map<TaskKey, std::vector<std::vector<Hash>>> commitments_;
  std::map<TaskKey, Hash> proofs_;  // Proofs of leases: shown after a reconnect.
  Counters counters_;
  PublicKey coordinator_;  // The one whose welcome came last.
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
