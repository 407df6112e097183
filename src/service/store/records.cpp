#include "service/store/records.h"

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
  }
  return "running";
}

bool Batch::empty() const {
  return settings.empty() && dropped_settings.empty() && jobs.empty() && nonces.empty() && receipts.empty() && replicas.empty() && tasks.empty() &&
         job_updates.empty() && transactions.empty() && reputations.empty();
}

void Batch::merge(Batch&& other) {
  const auto append = [](auto& to, auto& from) { to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end())); };
  if (!dropped_settings.empty()) {
    // What is set again stays.
    for (const Setting& setting : other.settings) std::erase(dropped_settings, setting.name);
  }
  append(dropped_settings, other.dropped_settings);
  append(settings, other.settings);
  append(jobs, other.jobs);
  append(nonces, other.nonces);
  append(receipts, other.receipts);
  append(replicas, other.replicas);
  append(tasks, other.tasks);
  append(job_updates, other.job_updates);
  append(transactions, other.transactions);
  append(reputations, other.reputations);
}

}  // namespace weft::store
