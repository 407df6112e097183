#include "decisions/jobs/answer_weighing.h"

#include <algorithm>

#include "common/base/format.h"
#include "common/proof/smaller_weights.h"

namespace weft::jobs {

billing::WeightSumKey AnswerWeighing::key_of(const billing::OpenAnswer& open, std::size_t worker) {
  return {
      .worker = open.workers[worker], .file = open.weighed.file, .shared = open.workers.size() > 1};
}

void AnswerWeighing::set(const billing::WeightSumKey& key, double sum) {
  sums_.set(key, sum, tables_.outbox.batch().weight_sums);
}

void AnswerWeighing::read(billing::OpenAnswer& open, billing::AnswerAudited& audited, Moment now) {
  using billing::AnswerVerdict;
  billing::WeighedAnswer& weighed = open.weighed;
  const bool was_read =
      audited.verdict == AnswerVerdict::agrees || audited.verdict == AnswerVerdict::differs;
  const bool counts = was_read && !audited.ratios.empty() && audited.auditors.size() == 1 &&
                      tables_.settings.referee.defences.only_roots_convict &&
                      tables_.trust.level(audited.auditors.front(), now.unix) == trust::Level::root;
  if (!counts) {
    if (weighed.differs && audited.verdict == AnswerVerdict::agrees)
      audited.verdict = AnswerVerdict::unheard;
    return;
  }
  const bool first = weighed.before.empty();
  if (first) {
    weighed.file = audited.file;
    for (std::size_t i = 0; i < open.workers.size(); ++i)
      weighed.before.push_back(sums_.of(key_of(open, i)));
  }
  double highest = 0;
  std::vector<double> after;
  for (std::size_t i = 0; i < open.workers.size(); ++i) {
    const proof::RatioSum sum = proof::add_ratios(weighed.before[i], audited.ratios);
    highest = std::max(highest, sum.highest);
    after.push_back(sum.sum);
    if (first) set(key_of(open, i), sum.sum);
  }
  if (highest < proof::ratio_least) {
    weighed.agreed = std::move(after);
    return;
  }
  weighed.differs = true;
  // The fingerprints may also be outside of the tolerance, and the reason then says so already.
  if (audited.verdict == AnswerVerdict::differs && audited.doubtful == 0) return;
  audited.verdict = AnswerVerdict::differs;
  audited.doubtful = 0;
  audited.reason = weft::format(
      "The fingerprints fit weights that were rounded to Q8_0 better than the promised weights: "
      "the sum of the worker's ratios has reached {:.2f}, which one in a million honest workers "
      "reaches.",
      proof::ratio_least);
}

void AnswerWeighing::settle(const billing::OpenAnswer& open, Verdict verdict) {
  const billing::WeighedAnswer& weighed = open.weighed;
  if (!weighed.differs) return;
  for (std::size_t i = 0; i < open.workers.size(); ++i) {
    const billing::WeightSumKey key = key_of(open, i);
    if (verdict == Verdict::confirmed) {
      if (!weighed.agreed.empty()) set(key, std::min(sums_.of(key), weighed.agreed[i]));
    } else if (verdict == Verdict::convicted || open.workers.size() > 1) {
      set(key, 0);
    }
  }
}

}  // namespace weft::jobs
