#include "apps/coordinator/ingest/earlier_receipts.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/proof/receipt.h"
#include "common/protocol/messages.h"

namespace weft::coordinator {

std::size_t EarlierReceipts::HashOfPlace::operator()(const Place& place) const {
  return std::hash<PublicKey>()(place.device) ^ std::hash<TaskId>()(place.task) ^ place.attempt;
}

Result<EarlierReceipts> EarlierReceipts::read(const store::Loaded& rows, store::Store& store,
                                              const store::Blobs& blobs, UnixMillis now) {
  EarlierReceipts out(store, blobs);
  for (const store::Replica& replica : rows.replicas) out.add(replica);
  std::size_t looked = 0;
  for (store::Store::JobPage page; looked < jobs_max;) {
    WEFT_ASSIGN(const auto jobs, store.jobs(page));
    for (const store::Job& job : jobs) {
      if (job.created < now - window || out.size() >= claims_max) return out;
      ++looked;
      if (job.tasks > claims_max - out.size()) continue;
      WEFT_ASSIGN(const auto replicas, store.replicas(job.id));
      for (const store::Replica& replica : replicas) out.add(replica);
    }
    // A page holds all jobs of its last millisecond, so the next page begins below that time.
    if (jobs.size() < page.count || jobs.back().created == page.before) break;
    page.before = jobs.back().created;
  }
  return out;
}

void EarlierReceipts::add(const store::Replica& replica) {
  if (size() >= claims_max) return;
  claims_.try_emplace({.device = replica.worker, .task = replica.task, .attempt = replica.attempt},
                      Claim{.root = replica.root, .receipt = replica.receipt});
}

std::optional<jobs::CoveringReceipt> EarlierReceipts::contradicted(
    const PublicKey& device, const protocol::ReceiptItem& item) const {
  if (item.count > 0) return {};  // A receipt for a part is no evidence.
  const auto found = claims_.find({.device = device, .task = item.task, .attempt = item.attempt});
  if (found == claims_.end() || found->second.root == item.root) return {};
  auto receipt = receipt_of(found->first, found->second);
  if (receipt) return std::move(*receipt);
  log_warning(
      "{} has signed two results of attempt {} of task {}, but the first cannot be shown: {}",
      device.text(), item.attempt, item.task.text(), receipt.error().message);
  return {};
}

Result<jobs::CoveringReceipt> EarlierReceipts::receipt_of(const Place& place,
                                                          const Claim& claim) const {
  // The statement is read first. If the data of the result were deleted, a contradicting worker
  // then costs only one failed read each time.
  WEFT_ASSIGN(ByteVector statement, blobs_.read(claim.receipt));
  WEFT_ASSIGN(const auto receipts, store_.receipts(place.task.job));
  const auto row = std::ranges::find(receipts, claim.receipt, &store::Receipt::digest);
  if (row == receipts.end())
    return fail(ErrorCode::not_found, "The receipt {} is not stored.", claim.receipt.text());
  WEFT_ASSIGN(ByteVector claims, blobs_.read(row->claims));
  WEFT_ASSIGN(const proof::KeptReceipt read, proof::read_receipt(statement, claims));
  if (!std::ranges::contains(
          read.claims,
          proof::Claim{.task = place.task, .attempt = place.attempt, .root = claim.root}))
    return fail(ErrorCode::data_loss,
                "The receipt {} does not sign the result that the worker claims.",
                claim.receipt.text());
  return jobs::CoveringReceipt{
      .session = {},
      .receipt = *row,
      .items = {},
      .unleased = {{.task = place.task, .attempt = place.attempt, .root = claim.root}},
      .statement = std::move(statement),
      .claims = std::move(claims)};
}

}  // namespace weft::coordinator
