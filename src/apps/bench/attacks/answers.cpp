#include "apps/bench/attacks/answers.h"

#include <algorithm>
#include <cstring>

#include "apps/bench/coordinator/talk.h"

namespace weft::coordinator::bench {
namespace {

constexpr std::size_t value_bytes = 4;
constexpr std::size_t slice_bytes = slice_values * value_bytes;
constexpr std::uint8_t wrong_bits = 0xa5;

}  // namespace

Asked asked(const JobId& job, const protocol::LeasedTask& task, std::uint32_t slices) {
  return {.task = {.job = job, .index = task.index},
          .slices = slices,
          .first = task.first,
          .count = task.count};
}

ByteVector right_answer(const Asked& asked, std::uint32_t mark) {
  ByteVector bytes = counted(asked.first, asked.count);
  if (mark == 0) return bytes;
  for (std::size_t i = value_bytes - 1; i < bytes.size(); i += value_bytes)
    bytes[i] ^= static_cast<std::uint8_t>(mark);
  return bytes;
}

ByteVector answer_of(const Asked& asked, const trust::attacks::Deed& deed) {
  ByteVector bytes = right_answer(asked);
  const std::uint32_t wrong = std::min(deed.wrong, asked.slices);
  if (wrong == 0) return bytes;
  std::uint64_t mixed = 0;
  std::memcpy(&mixed, asked.task.job.bytes.data(), sizeof mixed);
  mixed = (mixed + asked.task.index) * 0x9e3779b97f4a7c15U >> 7;
  const auto from = static_cast<std::uint32_t>(mixed % (asked.slices - wrong + 1));
  const std::uint32_t begin = asked.task.index * asked.slices + from;
  for (std::uint32_t slice = begin; slice < begin + wrong; ++slice) {
    if (slice < asked.first || slice >= asked.first + asked.count) continue;
    const std::size_t at = std::size_t{slice - asked.first} * slice_bytes;
    const std::size_t size = deed.one_value ? value_bytes : slice_bytes;
    for (std::size_t i = at; i < at + size; ++i) bytes[i] ^= wrong_bits;
    if (deed.one_value) break;
  }
  return bytes;
}

}  // namespace weft::coordinator::bench
