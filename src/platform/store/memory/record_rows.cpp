#include "platform/store/memory/record_rows.h"

#include <algorithm>

namespace weft::store::memory {

Result<> RecordRows::write(const ApiKey& each) {
  const bool taken = std::ranges::any_of(api_keys_, [&](const auto& other) {
    return other.second.hash == each.hash && other.first != each.id;
  });
  if (taken)
    return fail(ErrorCode::already_exists, "The secret of the API key {} is another key's already.",
                each.id);
  undo_.put(api_keys_, each.id, each);
  return {};
}

Result<> RecordRows::write(const Batch& batch) {
  for (const Secret& each : batch.secrets) undo_.put(secrets_, each.name, each);
  for (const Reputation& each : batch.reputations) undo_.put(reputations_, each.worker, each);
  for (const Standing& each : batch.standings) undo_.put(standings_, each.worker, each);
  for (const ClientWeight& each : batch.client_weights)
    undo_.put(client_weights_, each.client, each);
  for (const Device& each : batch.devices) undo_.put(devices_, each.key, each);
  for (const ApiKey& each : batch.api_keys) WEFT_OK(write(each));
  for (const auto& each : batch.checkpoints) {
    WEFT_OK(jobs_.row_of(each.row.task.job));
    undo_.change(checkpoints_, std::pair(each.row.task, each.row.worker), each);
  }
  for (const auto& each : batch.held_pays) {
    WEFT_OK(jobs_.row_of(each.row.task.job));
    undo_.change(held_pays_, std::pair(each.row.task, each.row.worker), each);
  }
  for (const auto& each : batch.client_shares)
    undo_.change(client_shares_, std::pair(each.row.worker, each.row.client), each);
  for (const auto& each : batch.mismatches)
    undo_.change(mismatches_, std::pair(each.row.worker, each.row.client), each);
  for (const auto& each : batch.weight_sums)
    undo_.change(weight_sums_, std::tuple(each.row.worker, each.row.file, each.row.shared), each);
  for (const Watch& each : batch.watches) undo_.put(watches_, each.worker, each);
  for (const auto& each : batch.faults) undo_.change(faults_, each.row.job, each);
  for (const auto& each : batch.presences) undo_.change(presences_, each.row.worker, each);
  for (const auto& each : batch.models) undo_.change(models_, each.row.name, each);
  for (const auto& each : batch.paces)
    undo_.change(paces_, std::pair(each.row.work, each.row.worker), each);
  for (const Season& each : batch.seasons) undo_.put(seasons_, each.hour, each);
  for (const std::string& id : batch.api_keys_removed) undo_.remove(api_keys_, id);
  return {};
}

void RecordRows::load(Loaded& loaded) const {
  const auto copy = [](const auto& map, auto& rows) {
    for (const auto& [key, row] : map) rows.push_back(row);
  };
  copy(secrets_, loaded.secrets);
  copy(reputations_, loaded.reputations);
  copy(standings_, loaded.standings);
  copy(client_shares_, loaded.client_shares);
  copy(mismatches_, loaded.mismatches);
  copy(weight_sums_, loaded.weight_sums);
  copy(watches_, loaded.watches);
  copy(faults_, loaded.faults);
  copy(client_weights_, loaded.client_weights);
  copy(devices_, loaded.devices);
  copy(api_keys_, loaded.api_keys);
  copy(checkpoints_, loaded.checkpoints);
  copy(presences_, loaded.presences);
  copy(models_, loaded.models);
  copy(paces_, loaded.paces);
  std::ranges::stable_sort(loaded.paces, {}, &Pace::time);
  copy(seasons_, loaded.seasons);
  load_held(loaded);
}

void RecordRows::load_held(Loaded& loaded) const {
  for (const JobId& id : jobs_.order()) {
    const JobRow& row = jobs_.at(id);
    const auto first = held_pays_.lower_bound({{.job = id, .index = 0}, {}});
    if (first == held_pays_.end() || first->first.first.job != id) continue;
    loaded.held_jobs.push_back(row.job);
    for (auto each = first; each != held_pays_.end() && each->first.first.job == id; ++each) {
      const TaskId& task = each->first.first;
      const bool is_new = loaded.held_pays.empty() || loaded.held_pays.back().task != task;
      loaded.held_pays.push_back(each->second);
      if (const auto found = row.tasks.find(task.index); is_new && found != row.tasks.end())
        loaded.held_tasks.push_back(found->second);
    }
  }
}

bool RecordRows::is_held(const JobId& id) const {
  const auto held = held_pays_.lower_bound({{.job = id, .index = 0}, {}});
  return held != held_pays_.end() && held->first.first.job == id;
}

BlobOwners RecordRows::blob_owners(UnixMillis ended_since) const {
  BlobOwners owners;
  for (const auto& [id, row] : jobs_.all()) {
    const bool is_kept = row.job.ended >= ended_since && !row.job.manifest.empty();
    if (row.job.state == JobState::running || is_kept || is_held(id)) owners.jobs.push_back(id);
  }
  for (const auto& [key, row] : checkpoints_) owners.blobs.push_back(row.blob);
  for (const auto& [name, model] : models_)
    owners.blobs.insert(owners.blobs.end(), {model.file_hash(), model.chunks_hash()});
  return owners;
}

}  // namespace weft::store::memory
