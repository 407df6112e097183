// The decisions about results in memory: checks, corrections, results to compute again, and
// evidence.
//
// Not safe to share between threads. Bounds: those of records.h for evidence.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "platform/store/memory/job_rows.h"
#include "platform/store/memory/undo_log.h"
#include "platform/store/store.h"

namespace weft::store::memory {

class VerdictRows {
 public:
  VerdictRows(UndoLog& undo, JobRows& jobs) : undo_(undo), jobs_(jobs) {}

  // Fails with not_found for a row of an unknown job.
  [[nodiscard]] Result<> write(const Batch& batch);

  void load(Loaded& loaded) const;
  [[nodiscard]] std::vector<Correction> corrections(const JobId& id) const;
  [[nodiscard]] std::vector<Evidence> evidence(std::size_t from, std::size_t count) const;
  // Returns the latest `count` checks, the oldest first.
  [[nodiscard]] std::vector<Check> checks(const JobId& id, std::uint32_t count) const;
  [[nodiscard]] std::vector<Check> checks(const PublicKey& worker, std::uint32_t count) const;

 private:
  // Does nothing for an attempt that is stored already, or if the worker has its maximum of rows.
  void write(const Evidence& evidence);
  void forget_oldest_evidence();
  template <class Wanted>
  [[nodiscard]] std::vector<Check> latest_checks(std::uint32_t count, Wanted wanted) const;

  UndoLog& undo_;
  JobRows& jobs_;
  std::map<PublicKey, Recheck> rechecks_;
  std::map<TaskId, Correction> corrections_;
  std::vector<Check> checks_;
  std::deque<Evidence> evidence_;
  // The evidence rows by worker.
  std::map<PublicKey, std::vector<std::pair<TaskId, std::uint32_t>>> evidence_of_;
};

}  // namespace weft::store::memory
