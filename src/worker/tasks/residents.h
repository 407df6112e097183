// The resident tasks: loaded, run part by part in the order of their slices, and checkpointed
// between parts.
//
// One task is resident at a time, or as many as there are slices. The device runs a part of one
// task (progress.h), then a part of the task whose slice is next (slices.h). Between two parts the
// state of a long task is uploaded as a checkpoint, and a task that is to yield stops.
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
    std::uint32_t slices = 0;  // Resident tasks at a time; 0: one, with all of the memory.
    std::uint64_t slice_memory_bytes = 0;  // The size of a partition, if its job needs no more.
    std::uint64_t memory_bytes = 0;        // The memory of all partitions.
    Duration slice{};  // The target time of a part of a task if several tasks share the device.
    std::uint64_t checkpoint_bytes_max = 0;
    std::uint64_t resume_bytes_max = 0;   // The most bytes of a checkpoint to continue from.
    SigningMemory* signing = nullptr;     // Null: signed roots are not remembered.
    std::shared_ptr<StateRoom> states{};  // The room for states between groups of steps.
  };
  struct Computed {
    exec::Output output;
    double resumed = 0;  // The share of the task's work that came out of a checkpoint.
    // The roots of groups of steps, and states. Null: the task has none, or none were wanted.
    std::shared_ptr<const StepTrace> steps;
  };
  // The owner of the residents, which provides tasks and receives their results.
  class Around {
   public:
    // Takes the next task that may begin now.
    virtual std::optional<LeasedTask> next_task() = 0;
    // A task was taken: the blobs of the next task may be fetched meanwhile.
    virtual void fetch_ahead() = 0;
    // The task is computed. Only its place is still taken; left() frees it.
    virtual void computed(const LeasedTask& task, Computed computed, const exec::Job& job) = 0;
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

  // Admits tasks that may begin, and runs a part if the device is free. Does nothing during a rest.
  void run_next();
  // Makes the task stop at its next checkpoint. False if it is not resident.
  bool yield(const TaskKey& key);
  // Makes all long tasks stop at their next checkpoint instead of running to their end.
  void yield_all_long();
  // Cancels the task. Does nothing if it is not resident.
  void cancel(const TaskKey& key, const std::string& reason);
  // Cancels all tasks. Only the task of which the device runs a part remains, until that part has
  // ended; false if there is no such task.
  bool cancel_all(const std::string& reason);

  [[nodiscard]] bool contains(const TaskKey& key) const;
  [[nodiscard]] std::vector<TaskKey> keys() const;
  [[nodiscard]] std::size_t size() const { return residents_.size(); }

 private:
  struct Resident {
    LeasedTask task;
    std::uint64_t serial = 0;
    std::shared_ptr<const exec::Job> job;
    std::optional<Progress> progress;  // Set once the job is loaded.
    bool admitted = false;             // The task was admitted to the slices.
    bool yields = false;               // The task stops at its next checkpoint.
    bool leaving = false;              // The last checkpoint of a task that stops is under way.
    bool uploading = false;            // A checkpoint is being uploaded.
    bool keeps_state = true;           // False if the task's checkpoints were refused.
    std::optional<std::string> cancelled;
    Duration used{};
    double part_seconds = 0;  // The duration of the last part; 0: not known.
    Instant checkpointed;     // The time of the last checkpoint, or of the start.
  };
  void take_in();
  void load(Resident& resident);
  void loaded(Resident& resident, const std::shared_ptr<const exec::Job>& job);
  void admit_loaded();
  void run_part();
  void part_ends(Resident& resident, std::uint32_t parts, Duration took,
                 Result<exec::Output> output);
  void complete(Resident& resident, Duration took);
  // Uploads a checkpoint. Must be called between two parts.
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
  // The serial of the task of which the runner runs a part.
  std::optional<std::uint64_t> on_runner_;
  Slices slices_;
  std::uint64_t serial_ = 0;
  Alive alive_;
};

}  // namespace weft::worker
