#include "decisions/jobs/coverings.h"

namespace weft::jobs {

std::vector<Coverings::Attempt> Coverings::add(Covering covering,
                                               std::span<const Attempt> attempts) {
  std::vector<Attempt> dropped;
  if (attempts.empty()) return dropped;
  const auto kept = std::make_shared<Kept>();
  kept->bytes = covering.statement.size() + covering.claims.size();
  kept->covering = std::make_shared<Covering>(std::move(covering));
  bytes_ += kept->bytes;
  for (const Attempt& attempt : attempts) {
    if (const auto before = rows_.find(attempt); before != rows_.end()) {
      if (before->second.kept == kept) continue;  // The receipt names this attempt twice.
      let_go(before);
    }
    ++kept->attempts;
    rows_.emplace(attempt, Row{.kept = kept, .place = order_.insert(order_.end(), attempt)});
  }
  while (rows_.size() > attempts_max || (bytes_ > bytes_max && rows_.begin() != rows_.end())) {
    const auto oldest = rows_.find(order_.front());
    if (oldest->second.kept == kept && rows_.size() <= attempts_max)
      break;  // A single receipt is kept even if it alone is larger than bytes_max.
    dropped.push_back(oldest->first);
    let_go(oldest);
  }
  return dropped;
}

std::shared_ptr<Covering> Coverings::take(const Attempt& attempt) {
  const auto found = rows_.find(attempt);
  if (found == rows_.end()) return nullptr;
  auto covering = found->second.kept->covering;
  let_go(found);
  return covering;
}

void Coverings::let_go(std::map<Attempt, Row>::iterator row) {
  if (--row->second.kept->attempts == 0) bytes_ -= row->second.kept->bytes;
  order_.erase(row->second.place);
  rows_.erase(row);
}

}  // namespace weft::jobs
