// Which blobs workers may read, and how many bytes they may store: what their leases of running
// jobs lead to, and the models that they were told to serve. The core says which jobs run, sessions
// which leases they hand over; uploads and reads ask. The worker that asks is connected: it has a
// token (Book).
//
// Threading: any. Memory: with a job goes all that its leases allowed, with a line its models; of a
// lease, of a job's states of a worker and of a line's models there are at most so many as below.
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
  static constexpr std::size_t models_max = 64;  // The first ones are forgotten first.

  // --- From the core.
  // `text`: the manifest as workers get it.
  void add_job(const JobId& job, const manifest::Manifest& manifest, const Hash& text);
  // No part of it is read or stored any more.
  void remove_job(const JobId& job);

  // --- From sessions and lines of models.
  // A lease lets its worker store so many bytes more: once, however often the worker shows it.
  // `outputs`: the sizes of the task's, for which room is set aside.
  void allow_upload(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                    std::uint64_t bytes, std::vector<std::uint64_t> outputs = {});
  // Off only in tests: workers fill the store then. Set before the core runs.
  void allow_all_uploads() { uploads_by_lease_ = false; }
  // The job's manifest and data, and states that its tasks go on from. For a job that runs.
  void allow_read(const PublicKey& worker, const JobId& job, std::span<const Hash> states);
  // The file of a model and the hashes of its chunks, as long as the line is there.
  void allow_model(const PublicKey& worker, std::uint64_t line, std::span<const Hash> blobs);
  void remove_line(std::uint64_t line);

  // --- From uploads and reads.
  struct Upload {
    // The running job whose output it can be, by its size: each output of a lease once. Such a blob
    // takes the room that is set aside for the job, any other one free room.
    std::optional<JobId> output_of = {};
  };
  // Takes them from what its leases of running jobs (`job`: of that one) allow; nothing where that
  // is less.
  [[nodiscard]] std::optional<Upload> take_upload(const PublicKey& worker, std::uint64_t bytes,
                                                  const std::optional<JobId>& job = {});
  [[nodiscard]] bool may_read(const PublicKey& worker, const Hash& blob) const;

 private:
  struct Allowed {
    // By index and attempt: the sizes of outputs that were not stored yet.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> leases;

    // Takes one of that size.
    bool take_output(std::uint64_t bytes);
    std::uint64_t upload_bytes = 0;  // That it may still store.
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
    std::unordered_map<PublicKey, std::set<JobId>> jobs_of;  // Those with leases of the worker.
    std::map<std::uint64_t, Line> lines;
    std::unordered_map<PublicKey, std::set<std::uint64_t>> lines_of;

    // Null for a job that does not run.
    Allowed* allowed(const PublicKey& worker, const JobId& job);
  };
  Guarded<State> state_;
  bool uploads_by_lease_ = true;
};

}  // namespace weft::jobs
