// What members of chains commit to: roots over their frames, which the two ends of a line must tell
// alike.
#include <algorithm>

#include "common/base/log.h"
#include "common/crypto/keys.h"
#include "decisions/inference/desk.h"

namespace weft::inference {

namespace wire = protocol::serving;

bool Desk::commits(const Chain& chain) const {
  return chain.members.size() > 1 && std::ranges::all_of(chain.members, [&](const Member& member) {
           const auto worker = workers_.find(member.worker);
           return worker != workers_.end() && worker->second.offer.key != PublicKey{};
         });
}

std::optional<Pipeline> Desk::pipeline_of(ChainId id, const Request& request) const {
  const Chain& chain = chains_.at(id);
  if (!commits(chain) || chain.state != ChainState::ready) return std::nullopt;
  Pipeline out{.chain = id.number(), .epoch = chain.epoch, .sequence = request.sequence};
  out.exact = std::ranges::all_of(
      chain.members, [&](const Member& member) { return shards_.at(member.shard).exact; });
  for (const Member& member : chain.members)
    out.stages.push_back(
        {.worker = workers_.at(member.worker).key, .begin = member.begin, .end = member.end});
  return out;
}

void Desk::on(ServingId session, const wire::Frames& message, Instant now) {
  const auto found = chains_.find(ChainId(message.chain));
  if (found == chains_.end() || found->second.epoch != message.epoch) return;
  const auto& members = found->second.members;
  const auto member = std::ranges::find(members, session, &Member::worker);
  if (member == members.end()) return;
  const proof::FrameBlock block{.chain = message.chain,
                                .epoch = message.epoch,
                                .line = message.line,
                                .first = message.first,
                                .count = message.count,
                                .root = message.root};
  const PublicKey& key = workers_.at(session).offer.key;
  if (!crypto::verify_now(key, proof::frame_block_digest(block), message.signature)) {
    world_.close(session, "It did not sign what it says of its frames.");
    return lose_worker(session, now);
  }
  const auto index = static_cast<std::uint32_t>(member - members.begin());
  if (roots_.add(block, index, now) == FrameRoots::Told::differs)
    part_line(ChainId(message.chain), message.line, "do not say the same of their frames", now);
}

// Either may lie, or the line between them: none is blamed, and a request goes on elsewhere.
void Desk::part_line(ChainId id, std::uint32_t line, std::string_view why, Instant now) {
  const auto& members = chains_.at(id).members;
  const PublicKey& sender = workers_.at(members[line].worker).key;
  const PublicKey& receiver = workers_.at(members[(line + 1) % members.size()].worker).key;
  ++counters_.disputes;
  log_warning("{} and {}, next to each other in a chain of {}, {}; they are kept apart.",
              sender.text(), receiver.text(), chains_.at(id).model, why);
  separations_.add(sender, receiver, now + settings_.apart_for);
  dissolve(id, now);
}

void Desk::look_after_roots(Instant now) {
  std::vector<std::pair<ChainId, std::uint32_t>> late;
  for (const auto& [id, chain] : chains_) {
    if (chain.state != ChainState::ready) continue;
    if (const auto line = roots_.late_line(id.number(), chain.epoch, now))
      late.emplace_back(id, *line);
  }
  for (const auto& [id, line] : late) {
    if (chains_.contains(id)) part_line(id, line, "do not tell of their frames in time", now);
  }
}

}  // namespace weft::inference
