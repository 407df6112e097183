// The choice of an auditor that weighs an answer: a root that reads it with the model's weights and
// again with rounded ones (docs/proof.md, "Smaller weights by likelihoods").
//
// A root is a worker invited with `--verifier`. Not for several threads. Bounds: one entry of
// refusals for each connected root and model.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "decisions/inference/desk_tables.h"

namespace weft::inference {

class WeighingAuditors {
 public:
  explicit WeighingAuditors(DeskTables& tables) : tables_(tables) {}

  // A root's shard that weighs, which the audit gets; no shard and `busy` if one audits another
  // answer now; neither if there is none.
  struct Choice {
    ShardId shard{};
    bool busy = false;
  };
  // Chooses for an audit that may not ask workers of `except`. A shard that stands by is lent to
  // `audit`. If there is none, a root with room loads one, for which layers with which it stands by
  // are unloaded.
  [[nodiscard]] Choice choose(const ModelCard& card, std::span<const PublicKey> except,
                              std::uint64_t draw, ChainId audit);
  // True if a connected root weighs the model's answers or has room to.
  [[nodiscard]] bool any(const ModelCard& card) const;

  // The shard could not be loaded: it is removed, and its worker is not asked again.
  void refused(ShardId shard);
  void forget(ServingId worker);
  void forget(const std::string& model);

 private:
  [[nodiscard]] bool may_weigh(ServingId session, const ModelCard& card) const;
  [[nodiscard]] bool has_room(const ServingWorker& worker, const ModelCard& card) const;
  // The root that loads a shard, the one with the most speed; none has one already.
  [[nodiscard]] std::optional<ServingId> with_room(const ModelCard& card,
                                                   std::span<const PublicKey> except) const;

  DeskTables& tables_;
  std::set<std::pair<ServingId, std::string>> refusals_;
};

}  // namespace weft::inference
