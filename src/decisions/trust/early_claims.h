// Claims of receipts that arrived before the results that they are about.
//
// Pure. Bounds: waiting_max claims of each worker; one more drops the worker's oldest.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

class EarlyClaims {
 public:
  static constexpr std::size_t waiting_max = 4096;

  // Keeps the claim as its worker's newest. It replaces an earlier claim of the same attempt.
  void keep(const PublicKey& worker, const Claim& claim);
  // Removes the worker's claim of this attempt and returns its root; nothing if there is no such
  // claim.
  std::optional<Hash> take(const PublicKey& worker, const TaskId& task, std::uint32_t attempt);
  void forget(const PublicKey& worker) { waiting_.erase(worker); }
  [[nodiscard]] std::size_t count(const PublicKey& worker) const;

 private:
  struct AttemptId {
    TaskId task;
    std::uint32_t attempt = 0;
    friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
  };
  // The waiting claims of one worker.
  struct Waiting {
    struct Row {
      Hash root;
      std::uint64_t age = 0;
    };
    std::map<AttemptId, Row> rows;
    std::map<std::uint64_t, AttemptId> by_age;
    std::uint64_t next_age = 0;
  };

  std::unordered_map<PublicKey, Waiting> waiting_;  // The order varies: never iterated.
};

}  // namespace weft::trust
