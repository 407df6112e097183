// Tests of tabs that find each other through the coordinator: texts go only between a guest and its
// own host. Each bound stops its attack, which succeeds without the bound.
#include "apps/coordinator/http/meetings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/format.h"

namespace weft::coordinator {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class FakePeer final : public net::Peer {
 public:
  FakePeer(std::uint64_t id, std::string address) : id_(id), address_(std::move(address)) {}
  void send_text(std::string text) override { heard.push_back(std::move(text)); }
  void send_binary(std::string) override { ADD_FAILURE() << "texts only"; }
  void close(std::string reason) override { closed.push_back(std::move(reason)); }
  const std::string& host() const override { return host_; }
  std::uint64_t id() const override { return id_; }
  const std::string& address() const override { return address_; }

  std::vector<std::string> heard, closed;

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
  explicit Place(const Meetings::Bounds& bounds = {})
      : meetings_({.bounds = bounds,
                   .ice_servers = [] { return R"([{"urls":["stun:s"]}])"; },
                   .clock = [this] { return time; }}),
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
  EXPECT_LE(place.route().message_bytes_max, 16384U);
  EXPECT_GT(Place({.text_bytes_max = 0}).route().message_bytes_max, 100'000U) << "off";
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
