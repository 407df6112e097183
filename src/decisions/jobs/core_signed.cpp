// Receipts of one device that contradict each other: evidence, which is stored whatever becomes of
// the results.
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

void Core::State::note_signed(const PublicKey& worker, const CoveringReceipt& receipt, Moment now) {
  const auto made =
      std::make_shared<const SignedReceipt>(SignedReceipt{.statement = receipt.statement,
                                                          .claims = receipt.claims,
                                                          .signature = receipt.receipt.signature});
  const auto note = [&](const protocol::ReceiptItem& item, bool leased) {
    if (item.count > 0) return;  // Parts are signed by another word, and several under one attempt.
    const SignedClaims::Attempt attempt{item.task, item.attempt};
    const auto earlier = signed_claims.find(worker, attempt);
    if (!earlier) {
      if (leased) signed_claims.add(worker, attempt, {.root = item.root, .receipt = made});
      return;
    }
    if (earlier->root == item.root) return;
    log_warning(
        "{} has signed two results of attempt {} of task {}: this is evidence against its owner "
        "(GET /v1/evidence).",
        worker.text(), item.attempt, item.task.text());
    const auto side = [](const Hash& root, const SignedReceipt& of) {
      return store::Evidence::Signed{
          .root = root, .statement = of.statement, .claims = of.claims, .signature = of.signature};
    };
    batch.evidence.push_back({.worker = worker,
                              .owner = PublicKey{{owner_of(worker).bytes}},
                              .task = item.task,
                              .attempt = item.attempt,
                              .time = now.unix,
                              .first = side(earlier->root, *earlier->receipt),
                              .second = side(item.root, *made)});
  };
  for (const auto& item : receipt.items) note(item, true);
  for (const auto& item : receipt.unleased) note(item, false);
}

}  // namespace weft::jobs
