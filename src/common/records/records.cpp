#include "common/records/records.h"

#include <algorithm>
#include <iterator>

namespace weft::store {

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::running:
      return "running";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
    case JobState::corrected:
      return "corrected";
  }
  return "running";
}

namespace {

// Calls `use` with each field of `batch` and the corresponding field of `other`.
template <class A, class B, class Use>
void each_field(A& batch, B& other, Use use) {
  use(batch.secrets, other.secrets);
  use(batch.jobs, other.jobs);
  use(batch.nonces, other.nonces);
  use(batch.receipts, other.receipts);
  use(batch.replicas, other.replicas);
  use(batch.tasks, other.tasks);
  use(batch.job_updates, other.job_updates);
  use(batch.transactions, other.transactions);
  use(batch.reputations, other.reputations);
  use(batch.standings, other.standings);
  use(batch.client_shares, other.client_shares);
  use(batch.mismatches, other.mismatches);
  use(batch.weight_sums, other.weight_sums);
  use(batch.watches, other.watches);
  use(batch.faults, other.faults);
  use(batch.client_weights, other.client_weights);
  use(batch.api_keys, other.api_keys);
  use(batch.devices, other.devices);
  use(batch.checkpoints, other.checkpoints);
  use(batch.presences, other.presences);
  use(batch.models, other.models);
  use(batch.paces, other.paces);
  use(batch.seasons, other.seasons);
  use(batch.held_pays, other.held_pays);
  use(batch.api_keys_removed, other.api_keys_removed);
  use(batch.clients_forgotten, other.clients_forgotten);
  use(batch.corrected_tasks, other.corrected_tasks);
  use(batch.rechecks, other.rechecks);
  use(batch.corrections, other.corrections);
  use(batch.checks, other.checks);
  use(batch.evidence, other.evidence);
  use(batch.checks_kept_since, other.checks_kept_since);
}

}  // namespace

bool Batch::empty() const {
  bool none = true;
  each_field(*this, *this, [&](const auto& rows, const auto&) { none = none && rows.empty(); });
  return none;
}

void Batch::merge(Batch&& other) {
  each_field(*this, other, [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  });
}

}  // namespace weft::store
