// What a device has signed for one coordinator: the root for each task and attempt. Two roots for
// one attempt would take its owner's stake (docs/settlement.md), and the coordinator chooses job,
// index and attempt: it may lease the same three twice with other data. So a root is written down
// before it is signed, and another one for the same attempt is never signed.
//
// Bounds: entries_max. Beyond them the lower half is forgotten and marked: nothing up to the mark
// is signed any more. Ids of jobs grow with time, so that these are tasks of the oldest jobs; a
// task of theirs that is still leased is refused, and another worker does it. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

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

  // Only what is fresh or the same may be signed. Attempts are numbered from 1.
  enum class Verdict : std::uint8_t { fresh, same, other, forgotten };
  [[nodiscard]] Verdict look(const TaskKey& key, const Hash& root) const;
  // A fresh one; the record to be stored before it is signed.
  ByteVector add(const TaskKey& key, const Hash& root);
  // True where add() went over the bound: all() is then to be stored in place of what was.
  bool shrink();

  // Mark and records, as they are stored.
  [[nodiscard]] ByteVector all() const;
  // The mark, then records; what follows the last whole record was never acknowledged.
  [[nodiscard]] static SignedRoots from(ByteSpan stored, std::size_t entries_max = entries_usual);
  // Records that another process has stored behind those that are known.
  void take(ByteSpan records);

  [[nodiscard]] std::size_t size() const { return roots_.size(); }

 private:
  std::size_t entries_max_;
  std::map<TaskKey, Hash> roots_;
  std::optional<TaskKey> mark_;
};

}  // namespace weft::worker
