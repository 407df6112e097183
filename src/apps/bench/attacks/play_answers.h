// Chooses the result that a worker of a play delivers. An honest worker delivers its device's
// result, an attacker the result of its deed. For a part that an attacker audits, its strategy
// chooses the result and knows the results of accomplices.
#pragma once

#include <unordered_map>

#include "apps/bench/attacks/answers.h"
#include "apps/bench/attacks/play_context.h"

namespace weft::coordinator::bench {

class PlayAnswers {
 public:
  explicit PlayAnswers(PlayContext& context) : context_(context) {}

  // The worker's result. `own` means that the job is an attacker's.
  [[nodiscard]] ByteVector answer(const Player& its, const Asked& asked,
                                  const trust::attacks::Deed& deed, bool own);
  // Records an attacker's deed for a whole task, so that accomplices know it.
  void told(const TaskId& task, const trust::attacks::Deed& deed) { told_.emplace(task, deed); }

 private:
  PlayContext& context_;
  std::unordered_map<TaskId, trust::attacks::Deed> told_;
};

}  // namespace weft::coordinator::bench
