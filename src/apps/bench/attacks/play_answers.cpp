#include "apps/bench/attacks/play_answers.h"

namespace weft::coordinator::bench {

ByteVector PlayAnswers::answer(const Player& its, const Asked& asked,
                               const trust::attacks::Deed& deed, bool own) {
  const bool differs = own && context_.options.plan.devices_differ;
  if (!its.attacker) return right_answer(asked, differs ? its.vendor : 0);
  if (asked.whole()) return answer_of(asked, deed);
  const auto told = told_.find(asked.task);
  const bool accomplice = told != told_.end();
  ByteVector truth = right_answer(asked);
  ByteVector claimed = accomplice ? answer_of(asked, told->second) : truth;
  if (context_.strategy->confirms(accomplice, claimed == truth)) return claimed;
  if (claimed != truth) return truth;
  return answer_of(asked, {.wrong = asked.slices});
}

}  // namespace weft::coordinator::bench
