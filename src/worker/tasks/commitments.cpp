#include "worker/tasks/commitments.h"

#include <utility>

#include "common/proof/merkle.h"

namespace weft::worker {

void Commitments::add(const TaskKey& key, Leaves leaves) {
  if (leaves_.size() < results_max_) leaves_.insert_or_assign(key, std::move(leaves));
}

protocol::Opening Commitments::open(const protocol::OpenChunks& asked) const {
  protocol::Opening opening{.task = asked.task, .attempt = asked.attempt, .roots = {}, .paths = {}};
  const auto found = leaves_.find({.task = asked.task, .attempt = asked.attempt});
  if (found == leaves_.end()) return opening;
  const Leaves& outputs = found->second;
  for (const auto& leaves : outputs) opening.roots.push_back(proof::root_of_leaves(leaves));
  for (const auto& [output, chunk] : asked.chunks) {
    auto path = output < outputs.size() ? proof::inclusion_path_of_leaves(outputs[output], chunk)
                                        : Result<proof::InclusionPath>(proof::InclusionPath{});
    if (!path) path = proof::InclusionPath{};  // An empty path says that there is no such chunk.
    opening.paths.push_back({.output = output,
                             .chunk = chunk,
                             .chunks = path->chunks,
                             .siblings = std::move(path->siblings)});
  }
  return opening;
}

}  // namespace weft::worker
