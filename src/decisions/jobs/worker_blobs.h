// The blobs that workers may read, and the number of bytes that they may store. Both follow from
// their leases of running jobs and from the models that they were told to serve. The core reports
// the running jobs, sessions report the leases that they hand over, and uploads and reads ask. The
// worker that asks is connected, because it has a token (Book).
//
// Threading: any. Memory: the entries of a job are removed with the job, and the models of a line
// with the line. The number of leases, of a worker's states of a job, and of a line's models is
// bounded by the constants below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/guarded.h"
#include "common/base/ids.h"
#include "common/manifest/manifest.h"

namespace weft::jobs {

class WorkerBlobs {
 public:
  static constexpr std::size_t states_max = 4096;
  // Most models whose blobs are remembered; the oldest are dropped.
  static constexpr std::size_t models_max = 64;

  //   --- From the core.
  // `text` is the hash of the manifest in the form that workers get.
  void add_job(const JobId& job, const manifest::Manifest& manifest, const Hash& text);
  // Ends the job: none of its blobs are read or stored any more.
  void remove_job(const JobId& job);

  //   --- From sessions and lines of models.
  // A lease lets its worker store `bytes` more bytes, once, even if the worker shows the lease
  // several times. `outputs` are the sizes of the task's outputs, for which room is reserved.
  void allow_upload(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                    std::uint64_t bytes, std::vector<std::uint64_t> outputs = {});
  // Lets the worker store states of a task, each once, for which room is reserved: `sizes` are
  // those that a check asks for now. A check that asks again lets no more bytes be stored.
  void allow_states(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                    std::vector<std::uint64_t> sizes);
  // Off only in tests: without this rule, workers fill the store. Must be set before the core runs.
  void allow_all_uploads() { uploads_by_lease_ = false; }
  // Lets the worker read the manifest and the data of a running job, and the states from which its
  // tasks continue.
  void allow_read(const PublicKey& worker, const JobId& job, std::span<const Hash> states);
  // Lets the worker read the file of a model and the hashes of its chunks, for as long as the line
  // exists.
  void allow_model(const PublicKey& worker, std::uint64_t line, std::span<const Hash> blobs);
  void remove_line(std::uint64_t line);

  // --- From uploads and reads.
  struct Upload {
    // The running job of which the blob may be an output, judged by its size; each output of a
    // lease is taken once. Such a blob uses the room that is reserved for the job; other blobs use
    // free room.
    std::optional<JobId> output_of = {};
    // The running job of which the blob may be a state that a check asked for, in the same way. It
    // uses the room that is reserved for states.
    std::optional<JobId> state_of = {};
  };
  // Takes `bytes` from the number of bytes that the worker's leases of running jobs allow, or its
  // leases of `job` if one is named. None if they allow less.
  [[nodiscard]] std::optional<Upload> take_upload(const PublicKey& worker, std::uint64_t bytes,
                                                  const std::optional<JobId>& job = {});
  [[nodiscard]] bool may_read(const PublicKey& worker, const Hash& blob) const;

 private:
  struct Allowed {
    // The sizes of outputs that are not stored yet, by index and attempt of the task.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> leases;

    // The sizes of states that were asked for and are not stored yet, by index and attempt of the
    // task.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> states_asked;

    // Take an output or a state of this size.
    bool take_output(std::uint64_t bytes) { return take(leases, bytes); }
    bool take_state(std::uint64_t bytes) { return take(states_asked, bytes); }
    static bool take(
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>>& from,
        std::uint64_t bytes);
    std::uint64_t upload_bytes = 0;  // Bytes that the worker may still store.
    bool reads = false;
    std::unordered_set<Hash> states;
  };
  struct Job {
    std::unordered_set<Hash> data;
    std::unordered_map<PublicKey, Allowed> workers;
  };
  struct Line {
    PublicKey worker;
    std::deque<Hash> blobs;
  };
  struct State {
    std::unordered_map<JobId, Job> jobs;
    // The jobs of which the worker has leases.
    std::unordered_map<PublicKey, std::set<JobId>> jobs_of;
    std::map<std::uint64_t, Line> lines;
    std::unordered_map<PublicKey, std::set<std::uint64_t>> lines_of;

    // Null if the job does not run.
    Allowed* allowed(const PublicKey& worker, const JobId& job);
  };
  Guarded<State> state_;
  bool uploads_by_lease_ = true;
};

}  // namespace weft::jobs
