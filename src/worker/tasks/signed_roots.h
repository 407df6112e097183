// What a device has signed for one coordinator: the root for each task and attempt. Two roots for
// one attempt would take its owner's stake (docs/settlement.md), and the coordinator chooses job,
// index and attempt: it may lease the same three twice with other data. So a root is written down
// before it is signed, and another one for the same attempt is never signed.
//
// Bounds: entries_max roots, and jobs_max() jobs. Beyond the first, the jobs with the most roots
// forget the lower half of them, up to a mark of their own, so that a job of many tasks costs other
// jobs nothing. Beyond the second, the jobs that were signed for longest ago are dropped whole, up
// to one mark for all: a job up to it that is not kept may have been signed for. Nothing that may
// have been forgotten is signed any more: another worker does it. Pure.
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

  // Up to where roots are forgotten. What it calls forgotten stays so permanently, also where it is
  // a copy that is kept while more is forgotten.
  struct Marks {
    using Place = std::pair<std::uint32_t, std::uint32_t>;  // Index and attempt in a job.
    std::optional<JobId> dropped;                           // Jobs up to it that are not in `jobs`.
    std::map<JobId, Place> jobs;  // Those that are kept; {0, 0}: no part of it is forgotten.
    [[nodiscard]] bool forgotten(const TaskKey& key) const;
  };

  // Only what is fresh or the same may be signed. Attempts are numbered from 1.
  enum class Verdict : std::uint8_t { fresh, same, other, forgotten };
  [[nodiscard]] Verdict look(const TaskKey& key, const Hash& root) const;
  // A fresh one; the record to be stored before it is signed.
  ByteVector add(const TaskKey& key, const Hash& root);
  // True where add() went over a bound: all() is then to be stored in place of what was.
  bool shrink();
  [[nodiscard]] const Marks& marks() const { return marks_; }

  // The mark of dropped jobs, then records: a job's mark, where it has one, before its roots; jobs
  // in the order in which they were last signed for.
  [[nodiscard]] ByteVector all() const;
  // What follows the last whole record was never acknowledged. Reads also what the first format
  // stored: one mark for all, with index and attempt.
  [[nodiscard]] static SignedRoots from(ByteSpan stored, std::size_t entries_max = entries_usual);
  // Records that another process has stored behind those that are known.
  void take(ByteSpan records);

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  using Place = Marks::Place;
  struct Job {
    std::map<Place, Hash> roots;
    std::uint64_t signed_last = 0;  // Larger: later.
  };
  [[nodiscard]] std::vector<JobId> jobs_by_age() const;  // Longest ago first.
  void drop_oldest_jobs();
  void forget_lower_halves();

  std::size_t entries_max_;
  std::map<JobId, Job> jobs_;  // The same ids as those of marks_.
  Marks marks_;
  std::size_t size_ = 0;
  std::uint64_t signed_last_ = 0;
};

}  // namespace weft::worker
