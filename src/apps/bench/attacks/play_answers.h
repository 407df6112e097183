// What a worker of a play hands in for a task: an honest one its device's answer, an attacker the
// one of its deed. Of a part that it audits an attacker says what its strategy wants, which knows
// what accomplices have answered.
#pragma once

#include <unordered_map>

#include "apps/bench/attacks/answers.h"
#include "apps/bench/attacks/play_context.h"

namespace weft::coordinator::bench {

class PlayAnswers {
 public:
  explicit PlayAnswers(PlayContext& context) : context_(context) {}

  // `own`: the job is an attacker's.
  [[nodiscard]] ByteVector answer(const Player& its, const Asked& asked,
                                  const trust::attacks::Deed& deed, bool own);
  // An attacker has answered the whole task so: accomplices know it.
  void told(const TaskId& task, const trust::attacks::Deed& deed) { told_.emplace(task, deed); }

 private:
  PlayContext& context_;
  std::unordered_map<TaskId, trust::attacks::Deed> told_;
};

}  // namespace weft::coordinator::bench
