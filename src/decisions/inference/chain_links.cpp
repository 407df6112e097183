#include "decisions/inference/chain_links.h"

#include <algorithm>
#include <string_view>

#include "common/crypto/hmac.h"

namespace weft::inference {

namespace wire = protocol::serving;

namespace {

std::string_view kind_of(std::string_view line) { return line.substr(0, line.find(':')); }

}  // namespace

void ChainLinks::relink(ChainId id, Instant now) {
  Chain& chain = tables_.chains.at(id);
  chain.state = ChainState::linking;
  chain.since = now;
  ++chain.epoch;
  chain.transport.clear();
  for (ChainMember& member : chain.members) member.linked = false;
  if (tables_.chains.commits(chain))
    tables_.roots.begin(id.number(), chain.epoch, static_cast<std::uint32_t>(chain.members.size()));
  for (std::uint32_t i = 0; i < chain.members.size(); ++i)
    tables_.world.send(chain.members[i].worker, link_of(id, i, now));
}

wire::Link ChainLinks::link_of(ChainId id, std::uint32_t index, Instant now) const {
  const Chain& chain = tables_.chains.at(id);
  const ChainMember& self = chain.members[index];
  wire::Link link{.chain = id.number(),
                  .epoch = chain.epoch,
                  .index = index,
                  .wire = tables_.chains.wire_of(chain.model),
                  .members = {}};
  link.exact = tables_.chains.has_exact_members(chain);
  link.commits = tables_.chains.commits(chain);
  if (chain.members.size() > 1)
    link.sequences = static_cast<std::uint32_t>(tables_.chains.capacity_of(chain));
  for (std::uint32_t i = 0; i < chain.members.size(); ++i) {
    const ChainMember& other = chain.members[i];
    const ServingWorker& worker = tables_.workers.at(other.worker);
    wire::Member member{
        .worker = worker.key, .shard = other.shard.number(), .lines = worker.offer.lines};
    // Two members get a token for a direct line, unless they must use the relay.
    if (i != index && !tables_.lines.is_relayed(self.worker, other.worker, now))
      member.token = token_of(id, chain.epoch, index, i);
    link.members.push_back(std::move(member));
  }
  const ServingWorker& worker = tables_.workers.at(self.worker);
  if (tables_.settings.ice && chain.members.size() > 1 &&
      std::ranges::any_of(worker.offer.lines,
                          [](const auto& line) { return kind_of(line) == "webrtc"; }))
    link.ice = tables_.settings.ice(worker.key);
  return link;
}

std::string ChainLinks::token_of(ChainId id, std::uint32_t epoch, std::uint32_t a,
                                 std::uint32_t b) const {
  ByteVector message;
  append(message, as_bytes(std::string_view("weft-line-token-1")));
  append_le(message, id.number());
  append_le(message, epoch);
  append_le(message, std::min(a, b));
  append_le(message, std::max(a, b));
  return crypto::hmac_sha256(tables_.settings.secret, message).text();
}

}  // namespace weft::inference
