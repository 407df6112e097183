#include "worker/inference/direct_links.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace weft::worker {

namespace wire = protocol::serving;

namespace {

// Returns for example "tcp" of "tcp://192.168.1.5:4711#...".
std::string_view kind_of(std::string_view line) { return line.substr(0, line.find(':')); }

// Returns the members to which this one sends or from which it receives.
std::set<std::uint32_t> neighbours_of(const wire::Link& link) {
  const auto count = static_cast<std::uint32_t>(link.members.size());
  std::set<std::uint32_t> out;
  out.insert((link.index + 1) % count);  // The next member; the first member follows the last.
  // The previous member; the last member precedes the first.
  out.insert((link.index + count - 1) % count);
  if (link.index == 0) {
    // The first member exchanges fault messages with all.
    for (std::uint32_t other = 1; other < count; ++other) out.insert(other);
  } else {
    out.insert(0);
  }
  out.erase(link.index);
  return out;
}

}  // namespace

template <class Function>
auto DirectLinks::while_open(std::uint32_t chain, std::uint64_t opening, Function function) {
  return [weak = weak_from_this(), chain, opening,
          function = std::move(function)](auto&&... arguments) {
    const auto self = weak.lock();
    if (!self) return;
    const auto found = self->direct_.find(chain);
    if (found != self->direct_.end() && found->second.opening == opening)
      function(*self, found->second, std::forward<decltype(arguments)>(arguments)...);
  };
}

void DirectLinks::open(const wire::Link& link) {
  PeerLines::Chain wanted{
      .chain = link.chain, .epoch = link.epoch, .index = link.index, .others = {}, .ice = link.ice};
  bool all = true;
  for (const std::uint32_t other : neighbours_of(link)) {
    const wire::Member& member = link.members[other];
    const auto line = std::ranges::find_if(member.lines, [&](const std::string& theirs) {
      return std::ranges::any_of(options_.lines, [&](const std::string& ours) {
        return kind_of(ours) == kind_of(theirs);
      });
    });
    if (line == member.lines.end() || member.token.empty()) {
      all = false;
    } else {
      wanted.others.push_back({.member = other, .line = *line, .token = member.token});
    }
  }
  if (options_.peers == nullptr || wanted.others.empty())
    return outputs_.tell(wire::Linked{.chain = link.chain, .epoch = link.epoch, .line = "relay"});

  const std::uint64_t opening = ++openings_;
  Direct& direct = direct_[link.chain];
  direct = {.opening = opening, .epoch = link.epoch, .index = link.index, .all = all};
  for (const auto& other : wanted.others) direct.waiting.insert(other.member);
  for (const wire::Member& member : link.members) direct.workers.push_back(member.worker);
  options_.peers->open(std::move(wanted), events_of(link.chain, opening));
  host_.after(options_.patience, while_open(link.chain, opening,
                                            [chain = link.chain](DirectLinks& self, Direct& late) {
                                              self.settle(chain, late);
                                            }));
}

PeerLines::Events DirectLinks::events_of(std::uint32_t chain, std::uint64_t opening) {
  return {.signal = while_open(
              chain, opening,
              [chain](DirectLinks& self, const Direct& direct, std::uint32_t to, std::string text) {
                self.outputs_.tell(wire::Signal{.chain = chain,
                                                .epoch = direct.epoch,
                                                .from = direct.index,
                                                .to = to,
                                                .text = std::move(text)});
              }),
          .frame = while_open(
              chain, opening,
              [chain](DirectLinks& self, Direct& direct, std::uint32_t from,
                      const ByteVector& frame) { self.on_frame(chain, direct, from, frame); }),
          .open = while_open(
              chain, opening,
              [chain](DirectLinks& self, Direct& direct, std::uint32_t member,
                      std::string_view word) { self.opened(chain, direct, member, word); }),
          .closed = while_open(chain, opening,
                               [chain](DirectLinks& self, Direct& direct, std::uint32_t member) {
                                 self.closed(chain, direct, member);
                               })};
}

// A link that opens late is not used, because its frames could overtake those that the coordinator
// relays.
void DirectLinks::opened(std::uint32_t chain, Direct& direct, std::uint32_t member,
                         std::string_view word) {
  if (direct.settled || direct.waiting.erase(member) == 0) return;
  direct.open.insert(member);
  direct.word = word;
  if (direct.waiting.empty()) settle(chain, direct);
}

void DirectLinks::closed(std::uint32_t chain, Direct& direct, std::uint32_t member) {
  if (direct.open.contains(member)) return part(chain, direct, member);
  if (direct.waiting.erase(member) == 0) return;
  direct.unreached.push_back(member);
  if (direct.waiting.empty()) settle(chain, direct);
}

void DirectLinks::settle(std::uint32_t chain, Direct& direct) {
  if (std::exchange(direct.settled, true)) return;
  direct.unreached.insert(direct.unreached.end(), direct.waiting.begin(), direct.waiting.end());
  direct.waiting.clear();
  const bool all = direct.all && direct.unreached.empty();
  outputs_.tell(wire::Linked{.chain = chain,
                             .epoch = direct.epoch,
                             .line = all ? direct.word : "relay",
                             .unreached = direct.unreached});
}

// Frames on the link may be lost, so the chain must be linked again.
void DirectLinks::part(std::uint32_t chain, Direct& direct, std::uint32_t member) {
  direct.open.erase(member);
  outputs_.tell(wire::Parted{.chain = chain, .epoch = direct.epoch, .member = member});
}

void DirectLinks::close(std::uint32_t chain) {
  direct_.erase(chain);
  if (options_.peers != nullptr) options_.peers->close(chain);
}

void DirectLinks::signal(const wire::Signal& signal) {
  if (options_.peers != nullptr)
    options_.peers->signal(signal.chain, signal.epoch, signal.from, signal.text);
}

DirectLinks::Sent DirectLinks::send(std::uint32_t chain, std::uint32_t member,
                                    const ByteVector& frame) {
  const auto found = direct_.find(chain);
  if (found == direct_.end() || !found->second.open.contains(member)) return Sent::no_link;
  if (options_.peers->send(chain, member, frame)) return Sent::directly;
  part(chain, found->second, member);
  return Sent::lost;
}

void DirectLinks::ping() {
  for (auto& [chain, direct] : direct_) {
    for (const std::uint32_t member : direct.open) {
      direct.pings[member] = {.number = ++pings_, .sent = host_.now()};
      (void)options_.peers->send(
          chain, member,
          wire::encode(wire::PingFrame{.chain = chain,
                                       .epoch = direct.epoch,
                                       .from = static_cast<std::uint16_t>(direct.index),
                                       .to = static_cast<std::uint16_t>(member),
                                       .number = pings_}));
    }
  }
}

std::map<PublicKey, Duration> DirectLinks::take_latencies() {
  return std::exchange(latencies_, {});
}

// A frame on a link must be of the two members at its ends, in the epoch for which it was opened.
void DirectLinks::on_frame(std::uint32_t chain, Direct& direct, std::uint32_t from,
                           const ByteVector& frame) {
  const auto index = static_cast<std::uint16_t>(direct.index);
  if (!wire::belongs(frame, chain, direct.epoch, static_cast<std::uint16_t>(from), index)) {
    log_warning(
        "A direct line of a chain carried a frame of another worker or epoch; the coordinator "
        "links the chain again.");
    return part(chain, direct, from);
  }
  if (!wire::is_ping(frame)) return outputs_.frame(frame);
  if (const auto ping = wire::decode_ping(frame)) on_ping(chain, direct, from, *ping);
}

void DirectLinks::on_ping(std::uint32_t chain, Direct& direct, std::uint32_t from,
                          const wire::PingFrame& ping) {
  if (!ping.answer) {
    wire::PingFrame answer = ping;
    std::swap(answer.from, answer.to);
    answer.answer = true;
    (void)options_.peers->send(chain, from, wire::encode(answer));
    return;
  }
  const auto sent = direct.pings.find(from);
  if (sent == direct.pings.end() || sent->second.number != ping.number ||
      from >= direct.workers.size())
    return;
  const Duration way = (host_.now() - sent->second.sent) / 2;
  const auto known = latencies_.emplace(direct.workers[from], way).first;
  known->second = std::min(known->second, way);
}

}  // namespace weft::worker
