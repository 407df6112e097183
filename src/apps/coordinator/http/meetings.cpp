#include "apps/coordinator/http/meetings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/byte_reader.h"
#include "common/base/format.h"
#include "common/base/utf8.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "platform/net/address.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t id_digits = 32;
constexpr std::size_t frame_bytes = 64;  // The JSON around a text and its guest's id.
constexpr std::size_t guest_bytes = sizeof(std::uint64_t);  // A guest's number before a message.
constexpr std::size_t relay_bytes_max = guest_bytes + 1 + CameraRelay::record_bytes_max;
constexpr Duration tick_soon = std::chrono::milliseconds(10);  // While a side waits for credit.
constexpr Duration tick_seldom = std::chrono::seconds(1);

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
  std::optional<std::string> text;
  std::optional<bool> relay;  // Set if there is no text.
};

Result<ToGuest> read_to_guest(const std::string& text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object object, root.object({"guest", "text", "relay"}));
  WEFT_ASSIGN(const json::Value guest, object.get("guest"));
  ToGuest out;
  WEFT_ASSIGN(out.guest, guest.unsigned_integer(std::uint64_t{1} << 53));
  if (const auto relay = object.find("relay")) {
    if (object.has("text")) return relay->error("must not be beside a text");
    WEFT_ASSIGN(out.relay, relay->boolean());
    return out;
  }
  WEFT_ASSIGN(const json::Value said, object.get("text"));
  WEFT_ASSIGN(out.text, said.string({.bytes_max = text.size()}));
  return out;
}

std::string numbered(std::uint64_t guest, std::string_view message) {
  ByteVector out;
  out.reserve(guest_bytes + message.size());
  append_le(out, guest);
  append(out, as_bytes(message));
  return std::string(as_text(out));
}

std::string credit_message(std::size_t bytes) {
  ByteVector out{static_cast<std::uint8_t>(RelayMessage::count)};
  append_le(out, static_cast<std::uint32_t>(bytes));
  return std::string(as_text(out));
}

}  // namespace

net::SocketRoute Meetings::route() {
  return {.path = "/v1/meet",
          .message_bytes_max =
              options_.bounds.text_bytes_max == 0
                  ? net::SocketRoute().message_bytes_max
                  : std::max(options_.bounds.text_bytes_max + frame_bytes, relay_bytes_max),
          .opened = [this](const std::shared_ptr<net::Peer>& peer) { open(peer); },
          .text = [this](const std::shared_ptr<net::Peer>& peer,
                         const std::string& text) { take(peer, text); },
          .binary = [this](const std::shared_ptr<net::Peer>& peer,
                           std::string message) { take_binary(peer, std::move(message)); },
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
    if (!act.binary.empty()) act.peer->send_binary(std::move(act.binary));
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
    const std::size_t most = options_.bounds.text_bytes_max;
    if (most != 0 && text.size() > most + frame_bytes)
      send_away(peer->id(), "The message has more bytes than a meeting allows.", acts);
    else if (member.meeting.empty())
      join(member, text, acts);
    else if (member.is_host)
      from_host(member, text, acts);
    else
      from_guest(member, text, acts);
  }
  carry_out(std::move(acts));
}

void Meetings::take_binary(const std::shared_ptr<net::Peer>& peer, std::string message) {
  Acts acts;
  {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(peer->id());
    if (found == members_.end()) return;
    const Member& member = found->second;
    if (!member.is_host) {
      if (relay_.has(peer->id()))
        pass_on(peer->id(), CameraRelay::Side::guest, std::move(message), acts);
      else
        send_away(peer->id(), "A binary message needs a relay, which the host begins.", acts);
    } else if (message.size() <= guest_bytes) {
      send_away(peer->id(), "A binary message of a host begins with the number of a guest.", acts);
    } else {
      const auto guest = read_le<std::uint64_t>(as_bytes(message));
      // The guest may have left while the host's message was on its way.
      const auto its = members_.find(guest);
      if (its != members_.end() && its->second.meeting == member.meeting && relay_.has(guest))
        pass_on(guest, CameraRelay::Side::host, message.substr(guest_bytes), acts);
    }
    grant_credit(acts);
  }
  carry_out(std::move(acts));
}

void Meetings::close(const std::shared_ptr<net::Peer>& peer) {
  Acts acts;
  {
    const std::lock_guard lock(mutex_);
    remove(peer->id(), "The device has closed its connection to the coordinator.", acts);
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
  if (said->text) return acts.push_back({.peer = guest->second.peer, .text = *said->text});
  if (!*said->relay) return send_away(said->guest, "The camera has ended the connection.", acts);
  if (!relay_.has(said->guest)) begin_relay(host, guest->second, acts);
}

void Meetings::begin_relay(const Member& host, Member& guest, Acts& acts) {
  const PeerId id = guest.peer->id();
  const bool host_is_here = net::is_loopback(host.peer->address());
  auto opened = relay_.open({.id = id,
                             .meeting = guest.meeting,
                             .network = host_is_here ? guest.network : host.network,
                             .is_local = host_is_here && net::is_loopback(guest.peer->address())},
                            options_.clock());
  if (!opened) {
    tell_host(guest, opened.error().message, acts);
    return send_away(id, std::move(opened.error().message), acts);
  }
  Meeting& meeting = meetings_.at(guest.meeting);
  std::erase(meeting.guests, id);
  meeting.relayed.push_back(id);
  if (std::optional<CameraRelay::Ended>& ended = *opened) {
    tell_host(members_.at(ended->id), ended->why, acts);
    send_away(ended->id, std::move(ended->why), acts);
  }
  grant_credit(acts);
}

void Meetings::pass_on(PeerId id, CameraRelay::Side sender, std::string message, Acts& acts) {
  const bool is_host = sender == CameraRelay::Side::host;
  const Member& guest = members_.at(id);
  const Member& host = members_.at(meetings_.at(guest.meeting).host);
  const PeerId from = is_host ? host.peer->id() : id;
  const auto kind =
      message.empty() ? std::uint8_t{255} : static_cast<std::uint8_t>(message.front());
  const Instant at = options_.clock();
  if (kind == static_cast<std::uint8_t>(RelayMessage::count) &&
      message.size() == 1 + sizeof(std::uint32_t)) {
    auto taken = relay_.taken(id, sender, read_le<std::uint32_t>(as_bytes(message), 1), at);
    if (!taken) send_away(from, std::move(taken.error().message), acts);
    return;
  }
  if (kind != static_cast<std::uint8_t>(RelayMessage::record))
    return send_away(from, "The message is neither a record of the relay nor a count of them.",
                     acts);
  if (auto sent = relay_.sent(id, sender, message.size() - 1, at); !sent)
    return send_away(from, std::move(sent.error().message), acts);
  acts.push_back({.peer = is_host ? guest.peer : host.peer,
                  .binary = is_host ? std::move(message) : numbered(id, message)});
}

void Meetings::grant_credit(Acts& acts) {
  for (const CameraRelay::Grant& grant : relay_.grants(options_.clock())) {
    const Member& guest = members_.at(grant.id);
    std::string message = credit_message(grant.bytes);
    if (grant.sender == CameraRelay::Side::guest)
      acts.push_back({.peer = guest.peer, .binary = std::move(message)});
    else
      acts.push_back({.peer = members_.at(meetings_.at(guest.meeting).host).peer,
                      .binary = numbered(grant.id, message)});
  }
  if (relay_.size() > 0) changed_.notify_all();
}

void Meetings::tell_host(const Member& guest, std::string_view why, Acts& acts) {
  acts.push_back(
      {.peer = members_.at(meetings_.at(guest.meeting).host).peer,
       .text = weft::format(R"({{"guest":{},"gone":{}}})", guest.peer->id(), json::quote(why))});
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
  acts.push_back({.peer = found->second.peer, .reason = reason});
  remove(id, reason, acts);
}

void Meetings::remove(PeerId id, std::string_view why, Acts& acts) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  const Member gone = found->second;
  members_.erase(found);
  const auto meeting = meetings_.find(gone.meeting);
  if (meeting == meetings_.end()) return;
  if (!gone.is_host) {
    std::erase(meeting->second.guests, id);
    std::erase(meeting->second.relayed, id);
    if (relay_.has(id)) tell_host(gone, why, acts);
    relay_.close(id);
    return;
  }
  std::vector<PeerId> guests = std::move(meeting->second.guests);
  guests.insert(guests.end(), meeting->second.relayed.begin(), meeting->second.relayed.end());
  meetings_.erase(meeting);
  for (const PeerId guest : guests) {
    relay_.close(guest);
    const auto member = members_.find(guest);
    if (member == members_.end()) continue;
    acts.push_back({.peer = member->second.peer, .reason = "The meeting has ended."});
    members_.erase(member);
  }
}

void Meetings::tick() {
  Acts acts;
  {
    const std::lock_guard lock(mutex_);
    for (CameraRelay::Ended& ended : relay_.expired(options_.clock())) {
      tell_host(members_.at(ended.id), ended.why, acts);
      send_away(ended.id, std::move(ended.why), acts);
    }
    grant_credit(acts);
  }
  carry_out(std::move(acts));
}

void Meetings::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Meetings::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Meetings::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return relay_.size() > 0; });
      // The first wait ends early if a side begins to wait for credit.
      if (!relay_.waits())
        changed_.wait_for(lock, stop, tick_seldom, [this] { return relay_.waits(); });
      if (relay_.waits()) changed_.wait_for(lock, stop, tick_soon, [] { return false; });
    }
    if (!stop.stop_requested()) tick();
  }
}

}  // namespace weft::coordinator
