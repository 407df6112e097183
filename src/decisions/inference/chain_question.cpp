#include "decisions/inference/chain_question.h"

namespace weft::inference {

Question chain_question(const DeskTables& tables, const ModelCard& card,
                        std::span<const Candidate> candidates) {
  return {.card = card,
          .candidates = candidates,
          .context = tables.shards.context_of(card),
          .sequences = tables.settings.sequences,
          .wire = tables.chains.wire_of(card.name),
          .between = [&tables, candidates](std::size_t from, std::size_t to) {
            return tables.lines.between(candidates[from], candidates[to]);
          }};
}

}  // namespace weft::inference
