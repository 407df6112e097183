#include "decisions/jobs/open_corrections.h"

#include <algorithm>
#include <utility>

namespace weft::jobs {

const OpenCorrection* OpenCorrections::find(const TaskId& task) const {
  const auto found = rows_.find(task);
  return found == rows_.end() ? nullptr : &found->second;
}

void OpenCorrections::put(OpenCorrection open) {
  owed_.reset();
  const TaskId task = open.row.task;
  rows_.insert_or_assign(task, std::move(open));
}

OpenCorrection* OpenCorrections::change(const TaskId& task) {
  owed_.reset();
  const auto found = rows_.find(task);
  return found == rows_.end() ? nullptr : &found->second;
}

OpenCorrections::Rows& OpenCorrections::change_all() {
  owed_.reset();
  return rows_;
}

MicroCredits OpenCorrections::owed_by(const OwnerId& owner) const {
  if (rows_.empty()) return 0;
  if (!owed_) {
    owed_.emplace();
    for (const auto& [task, open] : rows_) {
      if (open.over) continue;
      std::set<OwnerId> owners;
      for (const PublicKey& worker : open.owe) owners.insert(accounts_.owner_of(worker));
      for (const OwnerId& each : owners) (*owed_)[each] += open.row.due - open.row.refunded;
    }
  }
  const auto found = owed_->find(owner);
  return found == owed_->end() ? 0 : found->second;
}

std::optional<MicroCredits> OpenCorrections::owed_for(const TaskId& task) const {
  const OpenCorrection* const open = find(task);
  return open == nullptr ? std::nullopt : std::optional(open->row.due - open->row.refunded);
}

bool OpenCorrections::waits_for_client(const PublicKey& client) const {
  return std::ranges::any_of(rows_, [&](const auto& open) {
    const bool is_right = open.second.computed && open.second.row.joined;
    return open.second.row.client == client && !is_right;
  });
}

}  // namespace weft::jobs
