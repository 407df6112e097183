// Weighs audited answers: adds what a root's two readings say to the sums of the workers that
// answered, and decides if a sum shows smaller weights (docs/proof.md, "Smaller weights by
// likelihoods").
//
// Only readings of roots count, and an answer counts once, however many roots read it: each further
// root's reading is judged with the sum before the answer. Threading: one thread. Bounds: those of
// WeightSums.
#pragma once

#include <span>

#include "decisions/billing/answers.h"
#include "decisions/billing/weight_sums.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class AnswerWeighing {
 public:
  explicit AnswerWeighing(CoreTables& tables) : tables_(tables) {}
  AnswerWeighing(const AnswerWeighing&) = delete;

  void restore(std::span<const store::WeightSum> rows) { sums_.restore(rows); }

  // Takes the reading of one auditor into account. The reading becomes `differs` if a sum reaches
  // proof::ratio_least. Once a root has found smaller weights, a confirmation that was not weighed
  // becomes `unheard`, because no tolerance tells these weights apart.
  void read(billing::OpenAnswer& open, billing::AnswerAudited& audited, Moment now);

  // The answer's verdict. If another root's reading prevailed over one that found smaller weights,
  // its sums count. Refuted chains and convicted workers begin with 0 again; a worker that was
  // refuted alone without a conviction keeps its sum.
  enum class Verdict : std::uint8_t { confirmed, refuted, convicted };
  void settle(const billing::OpenAnswer& open, Verdict verdict);

  [[nodiscard]] double sum_of(const billing::WeightSumKey& key) const { return sums_.of(key); }

 private:
  [[nodiscard]] static billing::WeightSumKey key_of(const billing::OpenAnswer& open,
                                                    std::size_t worker);
  void set(const billing::WeightSumKey& key, double sum);

  CoreTables& tables_;
  billing::WeightSums sums_;
};

}  // namespace weft::jobs
