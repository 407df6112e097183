// Tests of tabs that find each other through the coordinator: texts go only between a guest and its
// own host. Each bound stops its attack, which succeeds without the bound.
#include "apps/coordinator/http/meetings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/byte_reader.h"
#include "common/base/format.h"

namespace weft::coordinator {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class FakePeer final : public net::Peer {
 public:
  FakePeer(std::uint64_t id, std::string address) : id_(id), address_(std::move(address)) {}
  void send_text(std::string text) override { heard.push_back(std::move(text)); }
  void send_binary(std::string bytes) override { taken.push_back(std::move(bytes)); }
  void close(std::string reason) override { closed.push_back(std::move(reason)); }
  const std::string& host() const override { return host_; }
  std::uint64_t id() const override { return id_; }
  const std::string& address() const override { return address_; }

  std::vector<std::string> heard, closed;
  std::vector<std::string> taken;  // Binary messages.

 private:
  std::uint64_t id_;
  std::string host_ = "localhost", address_;
};
using PeerPointer = std::shared_ptr<FakePeer>;

const std::string meeting(32, 'a');
const std::string other_meeting(32, 'b');

// Sockets at one Meetings object with these bounds.
class Place {
 public:
  explicit Place(const Meetings::Bounds& bounds = {}, const CameraRelay::Options& relay = {})
      : meetings_({.bounds = bounds,
                   .ice_servers = [] { return R"([{"urls":["stun:s"]}])"; },
                   .clock = [this] { return time; },
                   .relay = relay}),
        route_(meetings_.route()) {}

  PeerPointer connect(const std::string& address = "") {
    ++last_;
    const auto peer = std::make_shared<FakePeer>(
        last_, address.empty() ? weft::format("192.0.2.{}", last_ % 250) : address);
    route_.opened(peer);
    return peer;
  }
  PeerPointer join(std::string_view role, const std::string& id = meeting,
                   const std::string& address = "") {
    auto peer = connect(address);
    say(peer, weft::format(R"({{"meet":"{}","as":"{}"}})", id, role));
    return peer;
  }
  void say(const PeerPointer& peer, const std::string& text) { route_.text(peer, text); }
  void answer(const PeerPointer& host, const PeerPointer& guest, std::string_view text) {
    say(host, weft::format(R"({{"guest":{},"text":"{}"}})", guest->id(), text));
  }
  void relay(const PeerPointer& host, const PeerPointer& guest, bool begins = true) {
    say(host, weft::format(R"({{"guest":{},"relay":{}}})", guest->id(), begins));
  }
  void pass(const PeerPointer& peer, std::string message) {
    route_.binary(peer, std::move(message));
  }
  void tick() { meetings_.tick(); }
  void leave(const PeerPointer& peer) { route_.closed(peer); }
  [[nodiscard]] const net::SocketRoute& route() const { return route_; }

  Instant time{};

 private:
  std::uint64_t last_ = 0;
  Meetings meetings_;
  net::SocketRoute route_;
};

TEST(Meetings, PassTextsBetweenAGuestAndItsHost) {
  Place place;
  const auto host = place.join("host"), guest = place.join("guest"), second = place.join("guest");
  const auto elsewhere = place.join("host", other_meeting);

  place.say(guest, "offer");
  place.answer(host, guest, "answer");

  const std::string servers = R"({"iceServers":[{"urls":["stun:s"]}]})";
  EXPECT_THAT(host->heard,
              ElementsAre(servers, weft::format(R"({{"guest":{},"text":"offer"}})", guest->id())));
  EXPECT_THAT(guest->heard, ElementsAre(servers, "answer"));
  EXPECT_THAT(second->heard, SizeIs(1));
  EXPECT_THAT(elsewhere->heard, SizeIs(1));
}

TEST(Meetings, AHostReachesItsOwnGuestsOnly) {
  Place place;
  const auto host = place.join("host"), elsewhere = place.join("host", other_meeting);
  const auto guest = place.join("guest", other_meeting), mine = place.join("guest");

  place.answer(host, guest, "not yours");
  place.answer(host, elsewhere, "nor this");
  place.answer(host, host, "nor itself");

  EXPECT_THAT(guest->heard, SizeIs(1));
  EXPECT_THAT(elsewhere->heard, SizeIs(1));
  EXPECT_THAT(host->heard, SizeIs(1));
  EXPECT_THAT(mine->heard, SizeIs(1));
  EXPECT_THAT(host->closed, IsEmpty());
}

TEST(Meetings, EndWithTheirHost) {
  Place place;
  const auto host = place.join("host"), guest = place.join("guest");

  place.leave(host);

  EXPECT_THAT(guest->closed, ElementsAre("The meeting has ended."));
  EXPECT_THAT(place.join("guest")->closed,
              ElementsAre("The meeting does not exist, or it has ended."));
  EXPECT_THAT(place.join("host")->closed, IsEmpty()) << "it may be opened again";
}

TEST(Meetings, AGuestThatLeavesGivesItsPlaceUp) {
  Place place({.guests_max = 1});
  const auto host = place.join("host"), guest = place.join("guest");
  EXPECT_THAT(place.join("guest")->closed, SizeIs(1));

  place.leave(guest);

  EXPECT_THAT(place.join("guest")->closed, IsEmpty());
  EXPECT_THAT(host->closed, IsEmpty());
}

TEST(Meetings, HaveOneHost) {
  Place place;
  const auto host = place.join("host"), thief = place.join("host");

  EXPECT_THAT(host->closed, IsEmpty());
  EXPECT_THAT(thief->closed, ElementsAre("This meeting has a host already."));
}

TEST(Meetings, RefuseWhatIsNoGreetingAndNoText) {
  Place place;
  const auto host = place.join("host");
  for (const std::string text :
       {"", "x", "[]", R"({"meet":"aa","as":"host"})", R"({"meet":"","as":"guest"})",
        R"({"meet":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","as":"guest"})",
        R"({"meet":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","as":"both"})",
        R"({"meet":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","as":"guest","more":1})"}) {
    const auto peer = place.connect();
    place.say(peer, text);
    EXPECT_THAT(peer->closed, SizeIs(1)) << text;
    EXPECT_THAT(peer->heard, IsEmpty()) << text;
  }
  for (const std::string& text : {std::string(), std::string("\xff")}) {
    const auto guest = place.join("guest");
    place.say(guest, text);
    EXPECT_THAT(guest->closed, SizeIs(1));
  }
  EXPECT_THAT(host->heard, SizeIs(1)) << "the host hears of none of it";
  place.say(host, R"({"guest":"one"})");
  EXPECT_THAT(host->closed, SizeIs(1));
}

TEST(Meetings, BinaryAndLongMessagesEndASocket) {
  Place place;
  const auto one = place.connect(), two = place.connect();
  place.route().binary(one, "x");
  place.route().oversized(two, 1 << 20);
  EXPECT_THAT(one->closed, SizeIs(1));
  EXPECT_THAT(two->closed, SizeIs(1));
  EXPECT_LE(place.route().message_bytes_max, 70'000U);
  EXPECT_GT(Place({.text_bytes_max = 0}).route().message_bytes_max, 100'000U) << "off";
}

TEST(Meetings, ALongTextEndsASocket) {
  const auto closed = [](std::size_t most) {
    Place place({.text_bytes_max = most});
    const auto host = place.join("host"), guest = place.join("guest");
    place.say(guest, std::string(20'000, 'x'));
    return !guest->closed.empty();
  };
  EXPECT_TRUE(closed(12 << 10));
  EXPECT_FALSE(closed(0)) << "off";
}

std::string number_of(const PeerPointer& guest) {
  ByteVector out;
  append_le(out, guest->id());
  return std::string(as_text(out));
}
std::string record_of(std::string_view bytes) { return std::string(1, '\0') + std::string(bytes); }
std::string count_of(std::uint32_t count) {
  ByteVector out{1};
  append_le(out, count);
  return std::string(as_text(out));
}
// The records among the messages, without the number of a guest before them.
std::vector<std::string> records(const PeerPointer& peer, std::size_t number_bytes) {
  std::vector<std::string> out;
  for (const std::string& message : peer->taken)
    if (message[number_bytes] == '\0') out.push_back(message.substr(number_bytes + 1));
  return out;
}

TEST(Meetings, RelayRecordsBetweenAGuestAndItsHost) {
  Place place;
  const auto host = place.join("host"), guest = place.join("guest"), second = place.join("guest");
  const auto elsewhere = place.join("host", other_meeting);

  place.relay(host, guest);
  place.pass(guest, record_of("offer of boxes"));
  place.pass(host, number_of(guest) + record_of("frame"));

  EXPECT_THAT(records(guest, 0), ElementsAre("frame"));
  EXPECT_THAT(records(host, 8), ElementsAre("offer of boxes"));
  EXPECT_EQ(host->taken.back().substr(0, 8), number_of(guest));
  EXPECT_THAT(second->taken, IsEmpty());
  EXPECT_THAT(elsewhere->taken, IsEmpty());
  EXPECT_THAT(guest->closed, IsEmpty());
  EXPECT_THAT(host->closed, IsEmpty());
}

TEST(Meetings, ARelayGivesBothSidesCredit) {
  Place place({}, {.bytes_per_second = std::nullopt});
  const auto host = place.join("host"), guest = place.join("guest");

  place.relay(host, guest);

  EXPECT_THAT(guest->taken, ElementsAre(count_of(CameraRelay::window_to_host)));
  EXPECT_THAT(host->taken, ElementsAre(number_of(guest) + count_of(CameraRelay::window_to_guest)));
  const std::string full(CameraRelay::record_bytes_max, 'x');
  for (int i = 0; i < 2; ++i) place.pass(host, number_of(guest) + record_of(full));
  place.pass(guest, count_of(2));
  EXPECT_EQ(host->taken.back(), number_of(guest) + count_of(2 * CameraRelay::record_bytes_max));
}

TEST(Meetings, CreditThatIsNotThereYetComesLater) {
  Place place({}, {.bytes_per_second = 1e6});
  const auto host = place.join("host", meeting, "198.51.100.1"), guest = place.join("guest");
  place.relay(host, guest);
  const auto credit = [&] {
    std::size_t sum = 0;
    for (const auto& message : host->taken)
      sum += read_le<std::uint32_t>(as_bytes(std::string_view(message)), 9);
    return sum;
  };
  EXPECT_LT(credit(), CameraRelay::window_to_guest);

  for (int i = 0; i < 100; ++i) {
    place.time += 10ms;
    place.tick();
  }

  EXPECT_EQ(credit(), CameraRelay::window_to_guest);
}

TEST(Meetings, OnlyAHostBeginsARelay) {
  Place place;
  const auto host = place.join("host"), guest = place.join("guest"), second = place.join("guest");
  const auto thief = place.join("host", other_meeting);

  place.relay(thief, guest);
  place.say(second, weft::format(R"({{"guest":{},"relay":true}})", guest->id()));
  place.pass(guest, record_of("x"));

  EXPECT_THAT(records(host, 8), IsEmpty());
  EXPECT_THAT(guest->closed, SizeIs(1)) << "it has no relay";
  EXPECT_THAT(thief->heard, SizeIs(1));
}

TEST(Meetings, AThirdPartyReachesNoPair) {
  Place place;
  const auto host = place.join("host"), guest = place.join("guest");
  const auto other_host = place.join("host", other_meeting);
  const auto other_guest = place.join("guest", other_meeting);
  place.relay(host, guest);
  place.relay(other_host, other_guest);

  place.pass(other_host, number_of(guest) + record_of("x"));
  place.pass(other_guest, number_of(guest) + record_of("x"));

  EXPECT_THAT(records(guest, 0), IsEmpty());
  EXPECT_THAT(records(host, 8), IsEmpty());
  EXPECT_THAT(guest->closed, IsEmpty());
  EXPECT_THAT(records(other_host, 8), IsEmpty());
}

TEST(Meetings, ASideThatSendsTooMuchEndsItsPairOnly) {
  Place place({}, {.bytes_per_second = std::nullopt});
  const auto host = place.join("host"), guest = place.join("guest"), second = place.join("guest");
  place.relay(host, guest);
  place.relay(host, second);

  const std::string full(CameraRelay::record_bytes_max, 'x');
  for (int i = 0; i < 3; ++i) place.pass(guest, record_of(full));

  EXPECT_THAT(guest->closed, ElementsAre("A record of 65536 bytes was sent to the relay with "
                                         "credit for 0 bytes only."));
  EXPECT_THAT(host->heard.back(), testing::HasSubstr("\"gone\":\"A record of 65536 bytes"));
  EXPECT_THAT(host->closed, IsEmpty());
  place.pass(second, record_of("x"));
  EXPECT_THAT(records(host, 8), SizeIs(3));
}

TEST(Meetings, GarbageEndsTheSideThatSendsIt) {
  Place place;
  const auto host = place.join("host"), guest = place.join("guest"), second = place.join("guest");
  place.relay(host, guest);
  place.relay(host, second);
  place.pass(guest, "");
  place.pass(second, "\x02 something");
  EXPECT_THAT(guest->closed, SizeIs(1));
  EXPECT_THAT(second->closed, SizeIs(1));
  EXPECT_THAT(host->closed, IsEmpty());

  place.pass(host, "short");
  EXPECT_THAT(host->closed, SizeIs(1));
}

TEST(Meetings, TheEndOfARelayReachesBothSides) {
  Place place;
  const auto host = place.join("host"), first = place.join("guest"), second = place.join("guest"),
             third = place.join("guest");
  for (const auto& guest : {first, second, third}) place.relay(host, guest);

  place.leave(first);
  EXPECT_EQ(host->heard.back(),
            weft::format(R"({{"guest":{},"gone":"{}"}})", first->id(),
                         "The device has closed its connection to the coordinator."));
  place.relay(host, second, false);
  EXPECT_THAT(second->closed, ElementsAre("The camera has ended the connection."));
  place.leave(host);
  EXPECT_THAT(third->closed, ElementsAre("The meeting has ended."));
}

TEST(Meetings, ARelayThatIsIdleEnds) {
  Place place({}, {.bounds = {.idle_max = 10s}});
  const auto host = place.join("host"), guest = place.join("guest");
  place.relay(host, guest);

  place.time += 10s;
  place.tick();

  EXPECT_THAT(guest->closed, ElementsAre("Nothing went over the relay for 10 s."));
  EXPECT_THAT(host->heard.back(), testing::HasSubstr("Nothing went over the relay"));
  EXPECT_THAT(host->closed, IsEmpty());
}

TEST(Meetings, ARefusedRelayIsOneSentenceForBoth) {
  Place place({}, {.bytes_per_second = 0});
  const auto host = place.join("host"), guest = place.join("guest");

  place.relay(host, guest);

  EXPECT_THAT(guest->closed, ElementsAre(testing::HasSubstr("relays no pictures")));
  EXPECT_THAT(host->heard.back(), testing::HasSubstr("relays no pictures"));
}

TEST(Meetings, AGuestWithARelayKeepsNoOtherGuestOut) {
  Place place({.guests_max = 1});
  const auto host = place.join("host"), guest = place.join("guest");
  place.relay(host, guest);

  EXPECT_THAT(place.join("guest")->closed, IsEmpty());
  place.time += 1h;
  EXPECT_THAT(place.join("guest")->closed, IsEmpty());
  EXPECT_THAT(guest->closed, IsEmpty()) << "it has no age";
}

TEST(Meetings, OneAddressHasFewSockets) {
  const auto refused = [](std::size_t most) {
    Place place({.sockets_per_address = most});
    std::vector<PeerPointer> all;
    for (int i = 0; i < 4; ++i) all.push_back(place.connect("2001:db8::1"));
    // This address is in the /64 of the first four peers.
    all.push_back(place.connect("2001:db8::2"));
    EXPECT_THAT(place.connect("2001:db8:1::1")->closed, IsEmpty());
    return std::ranges::count_if(all, [](const auto& peer) { return !peer->closed.empty(); });
  };
  EXPECT_EQ(refused(2), 3);
  EXPECT_EQ(refused(0), 0) << "off";
}

TEST(Meetings, AreFew) {
  const auto refused = [](std::size_t most) {
    Place place({.meetings_max = most, .meeting_max = 1h});
    std::vector<PeerPointer> hosts;
    for (char id = 'a'; id <= 'd'; ++id) hosts.push_back(place.join("host", std::string(32, id)));
    return std::ranges::count_if(hosts, [](const auto& peer) { return !peer->closed.empty(); });
  };
  EXPECT_EQ(refused(2), 2);
  EXPECT_EQ(refused(0), 0) << "off";
}

TEST(Meetings, AnOldMeetingGivesItsPlaceToANewOne) {
  Place place({.meetings_max = 1, .meeting_max = 1h});
  const auto old = place.join("host"), guest = place.join("guest");
  EXPECT_THAT(place.join("host", other_meeting)->closed, SizeIs(1));

  place.time += 1h;

  EXPECT_THAT(place.join("host", other_meeting)->closed, IsEmpty());
  EXPECT_THAT(old->closed,
              ElementsAre(testing::HasSubstr("another one took the place of this one")));
  EXPECT_THAT(guest->closed, SizeIs(1));
}

// An attacker has all addresses of a network; each one is in a different /64 with sockets of its
// own.
TEST(Meetings, OfOneNetworkKeepNoOtherOut) {
  const auto comes_in = [](bool yields) {
    Place place({.meetings_max = 4, .largest_network_yields = yields});
    std::vector<PeerPointer> hoard;
    for (char id = 'a'; id <= 'd'; ++id)
      hoard.push_back(
          place.join("host", std::string(32, id), weft::format("2001:db8:0:{}::1", id)));
    const auto other = place.join("host", std::string(32, 'e'), "198.51.100.1");
    const auto second = place.join("host", std::string(32, 'f'), "203.0.113.1");
    if (yields) {
      EXPECT_THAT(hoard[0]->closed, SizeIs(1)) << "the oldest of the largest network";
      EXPECT_THAT(hoard[1]->closed, SizeIs(1));
      EXPECT_THAT(hoard[2]->closed, IsEmpty());
      // A network that has only one meeting keeps it, so that the hoarder gets none of the two
      // places.
      EXPECT_THAT(place.join("host", std::string(32, '9'), "2001:db8:0:9::1")->closed, SizeIs(1));
      EXPECT_THAT(other->closed, IsEmpty());
    }
    return other->closed.empty() && second->closed.empty();
  };
  EXPECT_TRUE(comes_in(true));
  EXPECT_FALSE(comes_in(false)) << "the attack";
}

TEST(Meetings, HaveFewGuestsAtATime) {
  const auto refused = [](std::size_t most) {
    Place place({.guests_max = most});
    const auto host = place.join("host");
    std::vector<PeerPointer> guests;
    for (int i = 0; i < 4; ++i) guests.push_back(place.join("guest"));
    EXPECT_THAT(host->closed, IsEmpty());
    return std::ranges::count_if(guests, [](const auto& peer) { return !peer->closed.empty(); });
  };
  EXPECT_EQ(refused(3), 1);
  EXPECT_EQ(refused(0), 0) << "off";
}

TEST(Meetings, AGuestThatWaitsTooLongGivesItsPlaceToANewOne) {
  Place place({.guests_max = 1, .guest_max = 60s});
  const auto host = place.join("host"), slow = place.join("guest");
  place.time += 59s;
  EXPECT_THAT(place.join("guest")->closed, SizeIs(1));
  place.time += 1s;

  EXPECT_THAT(place.join("guest")->closed, IsEmpty());
  EXPECT_THAT(slow->closed, ElementsAre("The guest took too long to join the meeting."));
}

TEST(Meetings, AGuestSaysLittle) {
  const auto heard = [](std::size_t most) {
    Place place({.texts_max = most});
    const auto host = place.join("host"), guest = place.join("guest");
    for (int i = 0; i < 5; ++i) place.say(guest, "x");
    EXPECT_EQ(guest->closed.size(), most == 0 ? 0U : 1U);
    return host->heard.size() - 1;
  };
  EXPECT_EQ(heard(2), 2U);
  EXPECT_EQ(heard(0), 5U) << "off";
}

TEST(Meetings, AHostSaysNoMoreThanItsGuestsMayHear) {
  const auto heard = [](std::size_t most) {
    Place place({.texts_max = most});
    const auto host = place.join("host"), guest = place.join("guest");
    for (int i = 0; i < 5; ++i) place.answer(host, guest, "x");
    EXPECT_EQ(host->closed.size(), most == 0 ? 0U : 1U);
    return guest->heard.size() - 1;
  };
  EXPECT_EQ(heard(2), 2U);
  EXPECT_EQ(heard(0), 5U) << "off";
}

}  // namespace
}  // namespace weft::coordinator
