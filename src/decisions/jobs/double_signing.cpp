#include "decisions/jobs/double_signing.h"

#include <memory>

#include "common/base/log.h"

namespace weft::jobs {

std::optional<TaskId> DoubleSigning::note(const PublicKey& worker, const CoveringReceipt& receipt,
                                          bool is_earlier, Moment now) {
  const auto made =
      std::make_shared<const SignedReceipt>(SignedReceipt{.statement = receipt.statement,
                                                          .claims = receipt.claims,
                                                          .signature = receipt.receipt.signature});
  const OwnerId owner = tables_.accounts.owner_of(worker);
  // True if the item contradicts an earlier one.
  const auto note = [&](const protocol::ReceiptItem& item, bool is_remembered) {
    // Claims of parts are signed with a different word, and one attempt may have several.
    if (item.count > 0) return false;
    const SignedClaims::Attempt attempt{item.task, item.attempt};
    const auto earlier = claims_.find(worker, attempt);
    if (!earlier) {
      if (is_remembered) claims_.add(worker, attempt, {.root = item.root, .receipt = made});
      return false;
    }
    if (earlier->root == item.root) return false;
    log_warning(
        "{} has signed two results of attempt {} of task {}: this is evidence against its owner "
        "(GET /v1/evidence).",
        worker.text(), item.attempt, item.task.text());
    const bool has_something_to_lose = stakes_.stake_of(owner, now.at) >= EvidenceRows::stake_min ||
                                       tables_.trust.book().established(worker, now.unix);
    if (!rows_.take(owner, has_something_to_lose, now.unix)) return true;
    const auto side = [](const Hash& root, const SignedReceipt& of) {
      return store::Evidence::Signed{
          .root = root, .statement = of.statement, .claims = of.claims, .signature = of.signature};
    };
    tables_.outbox.batch().evidence.push_back({.worker = worker,
                                               .owner = PublicKey{{owner.bytes}},
                                               .task = item.task,
                                               .attempt = item.attempt,
                                               .time = now.unix,
                                               .first = side(earlier->root, *earlier->receipt),
                                               .second = side(item.root, *made)});
    return true;
  };
  for (const auto& item : receipt.items) {
    if (note(item, true)) return item.task;
  }
  for (const auto& item : receipt.unleased) {
    if (note(item, is_earlier)) return item.task;
  }
  return std::nullopt;
}

}  // namespace weft::jobs
