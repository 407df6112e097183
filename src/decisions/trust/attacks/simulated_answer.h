// Answers of a simulated network: the root of one says what the simulation knows of it, so that the
// referee sees roots and the simulation sees which slices are wrong. Ids hold the numbers by which
// the simulation knows workers, clients and jobs.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/base/ids.h"
#include "decisions/trust/referee.h"

namespace weft::trust::attacks {

template <class Id>
[[nodiscard]] Id id_of(std::uint32_t number) {
  Id id;
  const std::uint32_t mark = number + 1;
  std::memcpy(id.bytes.data(), &mark, sizeof mark);
  id.bytes[15] = 1;
  return id;
}
// The number that id_of() made the id from.
template <class Id>
[[nodiscard]] std::uint32_t number_of(const Id& id) {
  std::uint32_t mark = 0;
  std::memcpy(&mark, id.bytes.data(), sizeof mark);
  return mark - 1;
}

struct Answer {
  std::uint64_t wrong = 0;  // A bit for each slice.
  std::uint32_t mark = 0;   // Answers with different marks differ everywhere.
  friend bool operator==(const Answer&, const Answer&) = default;
};
[[nodiscard]] Hash root_of(const TaskId& task, const Answer& answer);
[[nodiscard]] Answer answer_of(const Hash& root);
// The lowest `count` bits.
[[nodiscard]] std::uint64_t run_of_ones(std::uint32_t count);
// Whether a part of the answer that is to be audited is what the verifier's device computes.
// `slices`: of the whole task.
[[nodiscard]] bool part_is_right(const AuditWanted& wanted, std::uint32_t part,
                                 std::uint32_t slices);

}  // namespace weft::trust::attacks
