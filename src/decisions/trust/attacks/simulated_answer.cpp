#include "decisions/trust/attacks/simulated_answer.h"

namespace weft::trust::attacks {

Hash root_of(const TaskId& task, const Answer& answer) {
  Hash root;
  const std::uint32_t job = number_of(task.job);
  std::memcpy(root.bytes.data(), &task.index, 4);
  std::memcpy(root.bytes.data() + 4, &job, 4);
  std::memcpy(root.bytes.data() + 8, &answer.mark, 4);
  std::memcpy(root.bytes.data() + 12, &answer.wrong, 8);
  return root;
}

Answer answer_of(const Hash& root) {
  Answer answer;
  std::memcpy(&answer.mark, root.bytes.data() + 8, 4);
  std::memcpy(&answer.wrong, root.bytes.data() + 12, 8);
  return answer;
}

std::uint64_t run_of_ones(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

bool part_is_right(const AuditWanted& wanted, std::uint32_t part, std::uint32_t slices) {
  const Answer answer = answer_of(wanted.root);
  if (answer.mark != 0) return false;
  const std::uint32_t first = part * slices / wanted.parts;
  const std::uint32_t last = (part + 1) * slices / wanted.parts;
  return ((answer.wrong >> first) & run_of_ones(last - first)) == 0;
}

}  // namespace weft::trust::attacks
