// The tasks that are resident: loaded, run part by part in the order of their slices, checkpointed
// in between.
//
// One task is resident at a time, or as many as there are slices; the device runs a part of one of
// them (progress.h), then a part of whichever is next (slices.h). Between two parts a long task's
// state goes out as a checkpoint, and one that is to yield stops.
//
// Threading and lifetime: the session's thread; may be destroyed at any time; results of work that
// still runs are then dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/exec/executor.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/blob_store.h"
#include "worker/tasks/connection.h"
#include "worker/tasks/host.h"
#include "worker/tasks/job_loader.h"
#include "worker/tasks/leased_task.h"
#include "worker/tasks/progress.h"
#include "worker/tasks/rests.h"
#include "worker/tasks/signing_memory.h"
#include "worker/tasks/slices.h"

namespace weft::worker {

class Residents {
 public:
  struct Options {
    std::uint32_t slices = 0;  // Tasks that are resident at a time; 0: one, with all of the memory.
    std::uint64_t slice_memory_bytes = 0;  // A partition, where its job does not require more.
    std::uint64_t memory_bytes = 0;        // Memory of all partitions.
    Duration slice{};  // What a part of a task takes at best, where several share the device.
    std::uint64_t checkpoint_bytes_max = 0;
    std::uint64_t resume_bytes_max = 0;  // A checkpoint that a task goes on from.
    SigningMemory* signing = nullptr;    // Null: nothing is remembered.
  };
  // What stands around the residents: where tasks come from and go to.
  class Around {
   public:
    // Takes the next task that may begin now.
    virtual std::optional<LeasedTask> next_task() = 0;
    // A task was taken: bytes of the one after it may be fetched meanwhile.
    virtual void fetch_ahead() = 0;
    // Nothing of the task is resident any more but its place, which left() frees.
    virtual void computed(const LeasedTask& task, exec::Output output, const exec::Job& job,
                          double resumed) = 0;
    virtual void failed(const TaskKey& key, Error error) = 0;
    virtual void checkpointed(const TaskKey& key, const protocol::Checkpoint& checkpoint) = 0;
    virtual void left() = 0;

   protected:
    ~Around() = default;
  };
  struct Parts {
    Host& host;
    TaskRunner& runner;
    Connection& connection;
    const WorkSession& session;
    BlobStore& blobs;
    JobLoader& loader;
    Rests& rests;
    const EventSink& emit;
    Around& around;
  };
  Residents(const Parts& parts, const Options& options);

  // Takes in what may begin, and runs a part if the device is free. Nothing during a rest.
  void run_next();
  // It makes way at its next checkpoint. False if it is not resident.
  bool yield(const TaskKey& key);
  // Long tasks leave their state behind instead of running to their end.
  void yield_all_long();
  // Nothing if it is not resident.
  void cancel(const TaskKey& key, const std::string& reason);
  // All but the one that the device has a part of are gone then, and that is being ended; false if
  // there is none.
  bool cancel_all(const std::string& reason);

  [[nodiscard]] bool contains(const TaskKey& key) const;
  [[nodiscard]] std::vector<TaskKey> keys() const;
  [[nodiscard]] std::size_t size() const { return residents_.size(); }

 private:
  struct Resident {
    LeasedTask task;
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
  void take_in();
  void load(Resident& resident);
  void loaded(Resident& resident, const std::shared_ptr<const exec::Job>& job);
  void admit_loaded();
  void run_part();
  void part_ends(Resident& resident, std::uint32_t parts, Duration took,
                 Result<exec::Output> output);
  void complete(Resident& resident, Duration took);
  // Between two parts.
  void checkpoint(Resident& resident);
  void checkpoint_arrives(std::uint64_t serial, const protocol::Checkpoint& checkpoint,
                          const Result<>& result);
  [[nodiscard]] Duration checkpoint_interval(const Resident& resident) const;
  [[nodiscard]] std::uint64_t partition_of(const Resident& resident) const;
  [[nodiscard]] Resident* find(std::uint64_t serial) const;
  [[nodiscard]] Resident* find(const TaskKey& key) const;
  void remove(std::uint64_t serial);

  Parts parts_;
  const Options options_;
  std::vector<std::unique_ptr<Resident>> residents_;
  std::optional<std::uint64_t> on_runner_;  // The serial of the one that the runner has a part of.
  Slices slices_;
  std::uint64_t serial_ = 0;
  Alive alive_;
};

}  // namespace weft::worker
