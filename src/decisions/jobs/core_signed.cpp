// Receipts of one device that contradict each other: evidence, which is stored whatever becomes of
// the results. Two signatures by one key are checked by the coordinator itself, exactly: they
// convict, as a root's evidence does.
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

std::optional<TaskId> Core::State::note_signed(const PublicKey& worker,
                                               const CoveringReceipt& receipt, bool is_earlier,
                                               Moment now) {
  const auto made =
      std::make_shared<const SignedReceipt>(SignedReceipt{.statement = receipt.statement,
                                                          .claims = receipt.claims,
                                                          .signature = receipt.receipt.signature});
  const OwnerId owner = owner_of(worker);
  // Whether it contradicts an earlier one.
  const auto note = [&](const protocol::ReceiptItem& item, bool is_remembered) {
    // Parts are signed by another word, and several under one attempt.
    if (item.count > 0) return false;
    const SignedClaims::Attempt attempt{item.task, item.attempt};
    const auto earlier = signed_claims.find(worker, attempt);
    if (!earlier) {
      if (is_remembered) signed_claims.add(worker, attempt, {.root = item.root, .receipt = made});
      return false;
    }
    if (earlier->root == item.root) return false;
    log_warning(
        "{} has signed two results of attempt {} of task {}: this is evidence against its owner "
        "(GET /v1/evidence).",
        worker.text(), item.attempt, item.task.text());
    const bool has_something_to_lose = stake_of(owner, now.at) >= EvidenceRows::stake_min ||
                                       trust.book().established(worker, now.unix);
    if (!evidence_rows.take(owner, has_something_to_lose, now.unix)) return true;
    const auto side = [](const Hash& root, const SignedReceipt& of) {
      return store::Evidence::Signed{
          .root = root, .statement = of.statement, .claims = of.claims, .signature = of.signature};
    };
    batch.evidence.push_back({.worker = worker,
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

// As on a chain, all that its owner has staked is lost. None of what the receipt signs counts.
void Core::State::end_contradicting(const PublicKey& worker, const TaskId& task, Moment now) {
  const MicroCredits stake = slashable_stake_of(owner_of(worker));
  // While it is suspended it is given nothing, and nothing more moves its record.
  if (stake > 0 || !trust.book().suspended(worker, now.unix)) {
    act(trust.convicted(task, worker, stake, 0,
                        "It has signed two results of one attempt of the task.", now.unix),
        now);
    bar_server(worker, now);
  }
  const auto found = workers.find(worker);
  if (found == workers.end()) return;
  effect([this, session = found->second.session] {
    parts.world.close(
        session, {.code = std::string(to_string(ErrorCode::permission_denied)),
                  .message = "This device has signed two results of one attempt of a task: it is "
                             "suspended, and its owner's stake is lost. A wallet that two machines "
                             "use does that; give each a wallet or a device of its own."});
  });
  // No job is blamed for the tasks that it held.
  scheduler.remove_worker(worker, scheduler::Departure::left, now.at);
  disconnect(worker, now);
}

}  // namespace weft::jobs
