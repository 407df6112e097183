// The roots that a device has signed for one coordinator, by task and attempt. Two roots for one
// attempt would cost the device's owner the stake (docs/settlement.md), and the coordinator chooses
// job, index and attempt: it may lease the same three twice with different data. Therefore a root
// is written down before it is signed, and a different root for that attempt is never signed.
//
// Bounds: entries_max roots, and jobs_max() jobs. Beyond entries_max, the jobs with the most roots
// forget the lower half of their roots, up to a mark of each job, so that a job of many tasks costs
// other jobs nothing. Beyond jobs_max(), the jobs whose last signature is the oldest are dropped
// whole, up to one mark for all jobs: a job up to this mark that is not kept may have been signed
// for. If the root of an attempt may have been forgotten, no root is signed for the attempt, and
// another worker runs the task. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "worker/tasks/events.h"

namespace weft::worker {

class SignedRoots {
 public:
  static constexpr std::size_t entries_usual = 65536;
  static constexpr std::size_t key_bytes = JobId::size + 2 * sizeof(std::uint32_t);
  static constexpr std::size_t record_bytes = key_bytes + Hash::size;

  explicit SignedRoots(std::size_t entries_max = entries_usual) : entries_max_(entries_max) {}

  [[nodiscard]] std::size_t jobs_max() const { return std::max<std::size_t>(entries_max_ / 4, 1); }

  // Marks up to which roots are forgotten. An attempt that Marks call forgotten stays forgotten,
  // also in a copy of Marks that is kept while more is forgotten.
  struct Marks {
    using Place = std::pair<std::uint32_t, std::uint32_t>;  // The index and the attempt in a job.
    std::optional<JobId> dropped;  // Jobs up to this id that are not in `jobs` were dropped.
    std::map<JobId, Place> jobs;   // The mark of each kept job; {0, 0}: no root is forgotten.
    [[nodiscard]] bool forgotten(const TaskKey& key) const;
  };

  // Returns the verdict on a root. Only a `fresh` or `same` root may be signed. Attempts are
  // numbered from 1.
  enum class Verdict : std::uint8_t { fresh, same, other, forgotten };
  [[nodiscard]] Verdict look(const TaskKey& key, const Hash& root) const;
  // Adds a fresh root. Returns the record that must be stored before the root is signed.
  ByteVector add(const TaskKey& key, const Hash& root);
  // True if add() went over a bound: all() must then be stored in place of the earlier records.
  bool shrink();
  [[nodiscard]] const Marks& marks() const { return marks_; }

  // The mark of dropped jobs, then the records of each job: its mark, if it has one, before its
  // roots. Jobs are in the order in which they were last signed for.
  [[nodiscard]] ByteVector all() const;
  // Reads stored records. Bytes after the last whole record were never acknowledged and are
  // ignored. Also reads the first format, which had one mark, with index and attempt, for all jobs.
  [[nodiscard]] static SignedRoots from(ByteSpan stored, std::size_t entries_max = entries_usual);
  // Adds records that another process has stored after the known ones.
  void take(ByteSpan records);

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  using Place = Marks::Place;
  struct Job {
    std::map<Place, Hash> roots;
    std::uint64_t signed_last = 0;  // The order of the last signature; larger: later.
  };
  // Jobs by their last signature, oldest first.
  [[nodiscard]] std::vector<JobId> jobs_by_age() const;
  void drop_oldest_jobs();
  void forget_lower_halves();

  std::size_t entries_max_;
  std::map<JobId, Job> jobs_;  // The jobs, with the same ids as in marks_.
  Marks marks_;
  std::size_t size_ = 0;
  std::uint64_t signed_last_ = 0;
};

}  // namespace weft::worker
