#include "decisions/trust/simulation/behaviour.h"

#include <cstring>

namespace weft::trust::simulation {
namespace {

// Encodes an answer as a root. The mark is 0 for the right answer; each wrong worker has its own
// mark, and accomplices share one.
Hash root_of(const TaskId& task, std::uint32_t mark, std::uint32_t wrong) {
  Hash root;
  std::memcpy(root.bytes.data(), &task.index, sizeof task.index);
  std::memcpy(root.bytes.data() + 4, task.job.bytes.data(), task.job.bytes.size());
  std::memcpy(root.bytes.data() + 20, &mark, sizeof mark);
  std::memcpy(root.bytes.data() + 24, &wrong, sizeof wrong);
  return root;
}

constexpr std::uint32_t pact_mark = 0xffffffff;

bool shares_answers(Kind kind) { return kind == Kind::colluding || kind == Kind::sybil; }

std::uint32_t wrong_parts(std::uint32_t count, std::mt19937_64& random) {
  if (count >= answer_parts) return 0xffffffff;
  const auto first = static_cast<std::uint32_t>(random() % (answer_parts - count + 1));
  return static_cast<std::uint32_t>(((1U << count) - 1) << first);
}

}  // namespace

Cheating cheating_of(Kind kind) {
  switch (kind) {
    case Kind::honest:
      break;
    case Kind::random:
      return {.from_reputation = 0, .rate = 0.5, .parts_wrong = answer_parts};
    case Kind::sleeper:
      return {.from_reputation = 0.9, .rate = 1, .parts_wrong = answer_parts};
    case Kind::lazy:
      return {.from_reputation = 0.5, .rate = 0.5, .parts_wrong = answer_parts / 4};
    case Kind::colluding:
      return {.from_reputation = 0.5, .rate = 0.5, .parts_wrong = answer_parts};
    case Kind::sybil:
      return {.from_reputation = 0, .rate = 1, .parts_wrong = answer_parts};
  }
  return {};
}

Hash right_root(const TaskId& task) { return root_of(task, 0, 0); }

Answer answer(Kind kind, std::uint32_t worker, double reputation, const TaskId& task, Pact& pact,
              std::mt19937_64& random) {
  if (shares_answers(kind)) {
    if (const auto known = pact.find(task); known != pact.end()) return known->second;
  }
  const Cheating cheating = cheating_of(kind);
  const bool cheats =
      cheating.rate > 0 && reputation >= cheating.from_reputation && chance(random) < cheating.rate;
  Answer given{.root = right_root(task), .wrong = 0};
  if (cheats) {
    given.wrong = wrong_parts(cheating.parts_wrong, random);
    given.root = root_of(task, shares_answers(kind) ? pact_mark : worker + 1, given.wrong);
  }
  if (shares_answers(kind)) pact.emplace(task, given);
  return given;
}

bool audit_agrees(const AuditRole& auditor, Kind suspect, const Answer& suspected,
                  std::uint32_t part, std::mt19937_64& random) {
  if (shares_answers(auditor.kind))
    return shares_answers(suspect) || ((suspected.wrong >> part) & 1) == 0;
  const Cheating cheating = cheating_of(auditor.kind);
  // A dishonest auditor may have filled its own part with wrong values, which agree with no answer.
  if (cheating.rate > 0 && auditor.reputation >= cheating.from_reputation &&
      chance(random) < cheating.rate * cheating.parts_wrong / answer_parts) {
    return false;
  }
  return ((suspected.wrong >> part) & 1) == 0;
}

}  // namespace weft::trust::simulation
