#include "apps/coordinator/http/meetings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/format.h"
#include "common/base/utf8.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "platform/net/address.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t id_digits = 32;
constexpr std::size_t frame_bytes = 64;  // The JSON around a text and its guest's id.

struct Greeting {
  std::string meeting;
  bool is_host = false;
};

bool is_id(std::string_view text) {
  return text.size() == id_digits && std::ranges::all_of(text, [](char digit) {
           return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
         });
}

Result<Greeting> read_greeting(const std::string& text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = 256}));
  WEFT_ASSIGN(const json::Object object, root.object({"meet", "as"}));
  WEFT_ASSIGN(const json::Value meet, object.get("meet"));
  WEFT_ASSIGN(std::string meeting, meet.string());
  if (!is_id(meeting)) return meet.error("must be {} hex digits", id_digits);
  WEFT_ASSIGN(const json::Value as, object.get("as"));
  WEFT_ASSIGN(const std::string role, as.string());
  if (role != "host" && role != "guest") return as.error("must be \"host\" or \"guest\"");
  return Greeting{.meeting = std::move(meeting), .is_host = role == "host"};
}

struct ToGuest {
  std::uint64_t guest = 0;
  std::string text;
};

Result<ToGuest> read_to_guest(const std::string& text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object object, root.object({"guest", "text"}));
  WEFT_ASSIGN(const json::Value guest, object.get("guest"));
  WEFT_ASSIGN(const std::uint64_t id, guest.unsigned_integer(std::uint64_t{1} << 53));
  WEFT_ASSIGN(const json::Value said, object.get("text"));
  WEFT_ASSIGN(std::string out, said.string({.bytes_max = text.size()}));
  return ToGuest{.guest = id, .text = std::move(out)};
}

}  // namespace

net::SocketRoute Meetings::route() {
  return {.path = "/v1/meet",
          .message_bytes_max = options_.bounds.text_bytes_max == 0
                                   ? net::SocketRoute().message_bytes_max
                                   : options_.bounds.text_bytes_max + frame_bytes,
          .opened = [this](const std::shared_ptr<net::Peer>& peer) { open(peer); },
          .text = [this](const std::shared_ptr<net::Peer>& peer,
                         const std::string& text) { take(peer, text); },
          .binary =
              [](const std::shared_ptr<net::Peer>& peer, const std::string&) {
                peer->close("Members of a meeting may send only text messages.");
              },
          .oversized =
              [](const std::shared_ptr<net::Peer>& peer, std::size_t) {
                peer->close("The message has more bytes than a meeting allows.");
              },
          .closed = [this](const std::shared_ptr<net::Peer>& peer) { close(peer); },
          .cost = 1};
}

void Meetings::carry_out(Acts acts) {
  for (Act& act : acts) {
    if (!act.text.empty()) act.peer->send_text(std::move(act.text));
    if (!act.reason.empty()) act.peer->close(std::move(act.reason));
  }
}

void Meetings::open(const std::shared_ptr<net::Peer>& peer) {
  Acts acts;
  {
    const std::lock_guard lock(mutex_);
    const std::string group = net::address_group(peer->address()),
                      prefix = net::address_prefix(peer->address());
    const auto same =
        std::ranges::count_if(members_, [&](const auto& one) { return one.second.group == group; });
    const std::size_t most = options_.bounds.sockets_per_address;
    if (most != 0 && static_cast<std::size_t>(same) >= most)
      acts.push_back(
          {.peer = peer,
           .reason = "Too many members of meetings are connected from this address already."});
    else
      members_.emplace(peer->id(), Member{.peer = peer,
                                          .group = group,
                                          .network = prefix.empty() ? group : prefix,
                                          .meeting = {},
                                          .since = options_.clock()});
  }
  carry_out(std::move(acts));
}

void Meetings::take(const std::shared_ptr<net::Peer>& peer, const std::string& text) {
  Acts acts;
  {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(peer->id());
    if (found == members_.end()) return;
    Member& member = found->second;
    if (member.meeting.empty())
      join(member, text, acts);
    else if (member.is_host)
      from_host(member, text, acts);
    else
      from_guest(member, text, acts);
  }
  carry_out(std::move(acts));
}

void Meetings::close(const std::shared_ptr<net::Peer>& peer) {
  Acts acts;
  {
    const std::lock_guard lock(mutex_);
    remove(peer->id(), acts);
  }
  carry_out(std::move(acts));
}

void Meetings::join(Member& member, const std::string& text, Acts& acts) {
  const auto greeting = read_greeting(text);
  if (!greeting) return send_away(member.peer->id(), greeting.error().message, acts);
  if (greeting->is_host)
    begin(member, greeting->meeting, acts);
  else
    enter(member, greeting->meeting, acts);
}

void Meetings::begin(Member& member, const std::string& meeting, Acts& acts) {
  if (meetings_.contains(meeting))
    return send_away(member.peer->id(), "This meeting has a host already.", acts);
  const std::size_t most = options_.bounds.meetings_max;
  if (most != 0 && meetings_.size() >= most) {
    const auto host = yielding(member.network);
    if (!host)
      return send_away(member.peer->id(),
                       "The coordinator has too many meetings already; try again later.", acts);
    send_away(*host,
              "The coordinator has too many meetings, and another one took the place of this one.",
              acts);
  }
  member.meeting = meeting;
  member.is_host = true;
  meetings_[meeting].host = member.peer->id();
  acts.push_back({.peer = member.peer,
                  .text = weft::format(R"({{"iceServers":{}}})", options_.ice_servers())});
}

std::optional<Meetings::PeerId> Meetings::yielding(const std::string& network) const {
  struct Network {
    std::size_t meetings = 0;
    const Member* oldest = nullptr;
  };
  std::map<std::string_view, Network> networks;
  const Member* oldest = nullptr;
  for (const auto& [id, meeting] : meetings_) {
    const Member& host = members_.at(meeting.host);
    Network& its = networks[host.network];
    ++its.meetings;
    if (its.oldest == nullptr || host.since < its.oldest->since) its.oldest = &host;
    if (oldest == nullptr || host.since < oldest->since) oldest = &host;
  }
  if (oldest == nullptr) return std::nullopt;
  if (options_.clock() - oldest->since >= options_.bounds.meeting_max) return oldest->peer->id();
  const Network& largest = std::ranges::max_element(networks, {}, [](const auto& one) {
                             return one.second.meetings;
                           })->second;
  const auto own = networks.find(network);
  const std::size_t of_own = own == networks.end() ? 0 : own->second.meetings;
  const bool yields = options_.bounds.largest_network_yields && largest.meetings >= of_own + 2;
  return yields ? std::optional(largest.oldest->peer->id()) : std::nullopt;
}

bool Meetings::is_full(const Meeting& meeting) const {
  const std::size_t most = options_.bounds.guests_max;
  return most != 0 && meeting.guests.size() >= most;
}

void Meetings::enter(Member& member, const std::string& meeting, Acts& acts) {
  const PeerId id = member.peer->id();
  const auto found = meetings_.find(meeting);
  if (found == meetings_.end())
    return send_away(id, "The meeting does not exist, or it has ended.", acts);
  if (is_full(found->second)) {
    const PeerId oldest = found->second.guests.front();
    if (options_.clock() - members_.at(oldest).since < options_.bounds.guest_max)
      return send_away(id, "Too many guests are joining this meeting; try again in a minute.",
                       acts);
    send_away(oldest, "The guest took too long to join the meeting.", acts);
  }
  member.meeting = meeting;
  found->second.guests.push_back(id);
  found->second.texts_left += options_.bounds.texts_max;
  acts.push_back({.peer = member.peer,
                  .text = weft::format(R"({{"iceServers":{}}})", options_.ice_servers())});
}

void Meetings::from_host(Member& host, const std::string& text, Acts& acts) {
  Meeting& meeting = meetings_.at(host.meeting);
  const auto said = read_to_guest(text);
  if (!said) return send_away(host.peer->id(), said.error().message, acts);
  if (options_.bounds.texts_max != 0) {
    if (meeting.texts_left == 0)
      return send_away(host.peer->id(), "The host has sent more texts than a meeting allows.",
                       acts);
    --meeting.texts_left;
  }
  // The guest may have left while the host's message was on its way.
  const auto guest = members_.find(said->guest);
  if (guest == members_.end() || guest->second.is_host || guest->second.meeting != host.meeting)
    return;
  acts.push_back({.peer = guest->second.peer, .text = said->text});
}

void Meetings::from_guest(Member& guest, const std::string& text, Acts& acts) {
  const PeerId id = guest.peer->id();
  if (text.empty() || !utf8::is_valid(text))
    return send_away(id, "A text of a meeting must be UTF-8 and not empty.", acts);
  if (options_.bounds.texts_max != 0 && ++guest.texts > options_.bounds.texts_max)
    return send_away(id, "The guest has sent more texts than a meeting allows.", acts);
  const auto& host = members_.at(meetings_.at(guest.meeting).host);
  acts.push_back({.peer = host.peer,
                  .text = weft::format(R"({{"guest":{},"text":{}}})", id, json::quote(text))});
}

void Meetings::send_away(PeerId id, std::string reason, Acts& acts) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  acts.push_back({.peer = found->second.peer, .reason = std::move(reason)});
  remove(id, acts);
}

void Meetings::remove(PeerId id, Acts& acts) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  const Member gone = found->second;
  members_.erase(found);
  const auto meeting = meetings_.find(gone.meeting);
  if (meeting == meetings_.end()) return;
  if (!gone.is_host) {
    std::erase(meeting->second.guests, id);
    return;
  }
  const std::vector<PeerId> guests = std::move(meeting->second.guests);
  meetings_.erase(meeting);
  for (const PeerId guest : guests) {
    const auto member = members_.find(guest);
    if (member == members_.end()) continue;
    acts.push_back({.peer = member->second.peer, .reason = "The meeting has ended."});
    members_.erase(member);
  }
}

}  // namespace weft::coordinator
