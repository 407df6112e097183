// Answers of a simulated network. The root of an answer encodes its wrong slices, so that the
// referee sees roots and the simulation sees the wrong slices. Ids encode the numbers by which the
// simulation knows workers, clients and jobs.
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
// Returns the number that id_of() made the id from.
template <class Id>
[[nodiscard]] std::uint32_t number_of(const Id& id) {
  std::uint32_t mark = 0;
  std::memcpy(&mark, id.bytes.data(), sizeof mark);
  return mark - 1;
}

struct Answer {
  std::uint64_t wrong = 0;  // One bit for each slice, set if the slice is wrong.
  std::uint32_t mark = 0;   // Answers with different marks differ in every slice.
  friend bool operator==(const Answer&, const Answer&) = default;
};
[[nodiscard]] Hash root_of(const TaskId& task, const Answer& answer);
[[nodiscard]] Answer answer_of(const Hash& root);
// Returns a number whose lowest `count` bits are set.
[[nodiscard]] std::uint64_t run_of_ones(std::uint32_t count);
// True if this part of the audited answer equals what the verifier's device computes. `slices` is
// the number of slices of the whole task.
[[nodiscard]] bool part_is_right(const AuditWanted& wanted, std::uint32_t part,
                                 std::uint32_t slices);

}  // namespace weft::trust::attacks
