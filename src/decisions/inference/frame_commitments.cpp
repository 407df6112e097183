#include "decisions/inference/frame_commitments.h"

#include <utility>

#include "common/base/log.h"
#include "common/crypto/keys.h"

namespace weft::inference {

bool FrameCommitments::on(ServingId session, const protocol::serving::Frames& message,
                          Instant now) {
  const Chain* const chain = tables_.chains.find(message.chain, message.epoch);
  const ChainMember* const member = chain == nullptr ? nullptr : chain->member_of(session);
  if (member == nullptr) return true;
  const proof::FrameBlock block{.chain = message.chain,
                                .epoch = message.epoch,
                                .line = message.line,
                                .first = message.first,
                                .count = message.count,
                                .root = message.root};
  const PublicKey& key = tables_.workers.at(session).offer.key;
  if (!crypto::verify_now(key, proof::frame_block_digest(block), message.signature)) return false;
  const auto index = static_cast<std::uint32_t>(member - chain->members.data());
  if (tables_.roots.add(block, index, now) == FrameRoots::Told::differs)
    part_line(ChainId(message.chain), message.line, "do not say the same of their frames", now);
  return true;
}

void FrameCommitments::part_line(ChainId id, std::uint32_t line, std::string_view why,
                                 Instant now) {
  const Chain& chain = tables_.chains.at(id);
  const PublicKey& sender = tables_.workers.key(chain.members[line].worker);
  const PublicKey& receiver =
      tables_.workers.key(chain.members[(line + 1) % chain.members.size()].worker);
  ++tables_.counters.disputes;
  log_warning(
      "The workers {} and {}, next to each other in a chain of the model {}, {}; they are kept "
      "apart.",
      sender.text(), receiver.text(), chain.model, why);
  tables_.lines.separate(sender, receiver, now);
  keeper_.dissolve(id, now);
}

void FrameCommitments::look(Instant now) {
  std::vector<std::pair<ChainId, std::uint32_t>> late;
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.state != ChainState::ready) continue;
    if (const auto line = tables_.roots.late_line(id.number(), chain.epoch, now))
      late.emplace_back(id, *line);
  }
  for (const auto& [id, line] : late) {
    if (tables_.chains.contains(id))
      part_line(id, line, "do not tell of their frames in time", now);
  }
}

}  // namespace weft::inference
