// Tests of the relay's books: no side sends more than it has credit for, credit follows what the
// other side takes, networks get equal parts of the rate, and each bound stops its attack, which
// succeeds without the bound.
#include "apps/coordinator/http/camera_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/format.h"

namespace weft::coordinator {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Side = CameraRelay::Side;

constexpr std::size_t record = CameraRelay::record_bytes_max;

// A relay and the time.
class Books {
 public:
  explicit Books(CameraRelay::Options options = {}) : relay(options) {}

  Result<std::optional<CameraRelay::Ended>> open(CameraRelay::PairId id,
                                                 const std::string& network = "192.0.2.0/24",
                                                 const std::string& meeting = "") {
    return relay.open({.id = id,
                       .meeting = meeting.empty() ? weft::format("{}", id) : meeting,
                       .network = network},
                      time);
  }
  // The credit that senders get now, by pair and side.
  std::map<std::pair<CameraRelay::PairId, Side>, std::size_t> credit() {
    std::map<std::pair<CameraRelay::PairId, Side>, std::size_t> out;
    for (const auto& grant : relay.grants(time)) out[{grant.id, grant.sender}] += grant.bytes;
    return out;
  }

  CameraRelay relay;
  Instant time = Instant(1s);
};

CameraRelay::Options unbounded() { return {.bytes_per_second = std::nullopt}; }

TEST(CameraRelay, GivesEachSideItsWindow) {
  Books books(unbounded());
  ASSERT_TRUE(books.open(7));

  const auto credit = books.credit();

  EXPECT_EQ(credit.at({7, Side::host}), CameraRelay::window_to_guest);
  EXPECT_EQ(credit.at({7, Side::guest}), CameraRelay::window_to_host);
  EXPECT_THAT(books.credit(), IsEmpty());
}

TEST(CameraRelay, ASlowReceiverStopsItsSender) {
  const auto accepted = [](bool credit_is_needed) {
    Books books(
        {.bytes_per_second = std::nullopt, .bounds = {.credit_is_needed = credit_is_needed}});
    EXPECT_TRUE(books.open(7));
    static_cast<void>(books.credit());
    std::size_t count = 0;
    while (count < 100 && books.relay.sent(7, Side::host, record, books.time)) ++count;
    return count;
  };
  EXPECT_EQ(accepted(true), CameraRelay::window_to_guest / record);
  EXPECT_EQ(accepted(false), 100U) << "the attack";
}

TEST(CameraRelay, GivesCreditForWhatWasTaken) {
  Books books(unbounded());
  ASSERT_TRUE(books.open(7));
  static_cast<void>(books.credit());
  for (std::size_t i = 0; i < CameraRelay::window_to_guest / record; ++i)
    ASSERT_TRUE(books.relay.sent(7, Side::host, record, books.time));
  EXPECT_FALSE(books.relay.sent(7, Side::host, 1, books.time));

  ASSERT_TRUE(books.relay.taken(7, Side::guest, 2, books.time));

  const auto credit = books.credit();
  EXPECT_EQ(credit.at({7, Side::host}), 2 * record);
  EXPECT_EQ(credit.size(), 1U);
}

TEST(CameraRelay, AShortRecordCostsAsMuchAsAKibibyte) {
  Books books(unbounded());
  ASSERT_TRUE(books.open(7));
  static_cast<void>(books.credit());
  std::size_t count = 0;
  while (books.relay.sent(7, Side::guest, 1, books.time)) ++count;

  EXPECT_EQ(count, CameraRelay::window_to_host / CameraRelay::record_cost_least);
}

TEST(CameraRelay, RefusesRecordsAndCountsThatAreWrong) {
  Books books(unbounded());
  ASSERT_TRUE(books.open(7));
  static_cast<void>(books.credit());

  EXPECT_THAT(books.relay.sent(7, Side::host, record + 1, books.time).error().message,
              "A record of the relay has 1 to 65536 bytes; this one has 65537.");
  EXPECT_FALSE(books.relay.sent(7, Side::host, 0, books.time));
  EXPECT_EQ(books.relay.sent(8, Side::host, 1, books.time).error().code, ErrorCode::not_found);
  ASSERT_TRUE(books.relay.sent(7, Side::host, 1, books.time));
  EXPECT_FALSE(books.relay.taken(7, Side::guest, 0, books.time));
  EXPECT_THAT(books.relay.taken(7, Side::guest, 2, books.time).error().message,
              "2 records are reported as taken from the relay, and 1 are under way.");
  EXPECT_FALSE(books.relay.taken(7, Side::host, 1, books.time)) << "the other direction";
  EXPECT_TRUE(books.relay.taken(7, Side::guest, 1, books.time));
}

TEST(CameraRelay, KeepsToItsRate) {
  Books books({.bytes_per_second = 1e6});
  ASSERT_TRUE(books.open(7));
  std::size_t sent = 0, credit = 0;
  for (int i = 0; i < 1000; ++i) {
    for (const auto& [of, bytes] : books.credit())
      if (of.second == Side::host) credit += bytes;
    while (credit >= record) {
      ASSERT_TRUE(books.relay.sent(7, Side::host, record, books.time));
      ASSERT_TRUE(books.relay.taken(7, Side::guest, 1, books.time));
      credit -= record;
      sent += record;
    }
    books.time += 10ms;
  }
  EXPECT_NEAR(static_cast<double>(sent), 10e6, 0.6e6);
}

// A stranger has as many pairs as its network may have; the camera of another network has one.
TEST(CameraRelay, ANetworkWithManyPairsGetsNoMoreThanANetworkWithOne) {
  const auto share_of_one = [](bool turns) {
    Books books({.bytes_per_second = 1e6, .bounds = {.networks_take_turns = turns}});
    constexpr CameraRelay::PairId last = 30;
    std::map<CameraRelay::PairId, std::size_t> credit, sent;
    for (CameraRelay::PairId id = 0; id <= last; ++id)
      EXPECT_TRUE(books.open(id, id == last ? "198.51.100.0/24" : "192.0.2.0/24"));
    for (int i = 0; i < 2000; ++i) {
      for (const auto& [of, bytes] : books.credit())
        if (of.second == Side::host) credit[of.first] += bytes;
      for (auto& [id, left] : credit) {
        for (; left >= record; left -= record) {
          EXPECT_TRUE(books.relay.sent(id, Side::host, record, books.time));
          EXPECT_TRUE(books.relay.taken(id, Side::guest, 1, books.time));
          sent[id] += record;
        }
      }
      books.time += 10ms;
    }
    std::size_t all = 0;
    for (const auto& [id, bytes] : sent) all += bytes;
    return static_cast<double>(sent[last]) / static_cast<double>(all);
  };
  // The other network also spends credit on its guests, which send nothing here.
  EXPECT_GT(share_of_one(true), 0.45);
  EXPECT_LT(share_of_one(false), 0.1) << "the attack";
}

TEST(CameraRelay, PairsOfThisMachineHaveNoRate) {
  Books books({.bytes_per_second = 0});
  ASSERT_TRUE(
      books.relay.open({.id = 7, .meeting = "a", .network = "", .is_local = true}, books.time));
  EXPECT_EQ(books.credit().at({7, Side::host}), CameraRelay::window_to_guest);
  EXPECT_THAT(books.open(8).error().message, HasSubstr("--camera-relay 0"));
}

TEST(CameraRelay, HasFewPairsForEachMeetingAndNetwork) {
  const auto opened = [](CameraRelay::Bounds bounds, bool one_meeting) {
    Books books({.bounds = bounds});
    int count = 0;
    for (CameraRelay::PairId id = 0; id < 5; ++id)
      count += books.open(id, "192.0.2.0/24", one_meeting ? "m" : "") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(opened({.pairs_per_meeting = 3}, true), 3);
  EXPECT_EQ(opened({.pairs_per_meeting = 0}, true), 5) << "off";
  EXPECT_EQ(opened({.pairs_per_network = 3}, false), 3);
  EXPECT_EQ(opened({.pairs_per_network = 0}, false), 5) << "off";
}

TEST(CameraRelay, TheNetworkWithTheMostPairsGivesWay) {
  Books books({.bounds = {.pairs_max = 4}});
  for (CameraRelay::PairId id = 1; id <= 4; ++id) {
    ASSERT_TRUE(books.open(id));
    books.time += 1s;
  }
  EXPECT_FALSE(books.open(5)) << "a fifth pair of the same network";

  const auto opened = books.open(6, "198.51.100.0/24");

  ASSERT_TRUE(opened && *opened);
  EXPECT_EQ((*opened)->id, 1U) << "the oldest";
  EXPECT_FALSE(books.relay.has(1));
  EXPECT_TRUE(books.relay.has(6));
  EXPECT_EQ(books.relay.size(), 4U);
}

TEST(CameraRelay, EndsPairsThatAreIdleOrStuck) {
  const auto ended = [](CameraRelay::Bounds bounds, bool sends, Duration after) {
    Books books({.bytes_per_second = std::nullopt, .bounds = bounds});
    EXPECT_TRUE(books.open(7));
    static_cast<void>(books.credit());
    if (sends) {
      EXPECT_TRUE(books.relay.sent(7, Side::guest, 1, books.time));
    }
    books.time += after;
    const auto out = books.relay.expired(books.time);
    EXPECT_EQ(books.relay.size(), out.empty() ? 1U : 0U);
    return out.empty() ? std::string() : out.front().why;
  };
  EXPECT_EQ(ended({}, false, 299s), "");
  EXPECT_EQ(ended({}, false, 300s), "Nothing went over the relay for 300 s.");
  EXPECT_EQ(ended({.idle_max = 0s}, false, 1000s), "") << "off";
  EXPECT_EQ(ended({}, true, 29s), "");
  EXPECT_EQ(ended({}, true, 30s), "One side took nothing from the relay for 30 s.");
  EXPECT_EQ(ended({.stuck_max = 0s}, true, 31s), "") << "off";
}

TEST(CameraRelay, AClosedPairWaitsForNothing) {
  Books books({.bytes_per_second = 1});
  ASSERT_TRUE(books.open(7));
  static_cast<void>(books.credit());
  ASSERT_TRUE(books.relay.waits());

  books.relay.close(7);

  EXPECT_FALSE(books.relay.waits());
  books.time += 1000s;
  EXPECT_THAT(books.credit(), IsEmpty());
}

}  // namespace
}  // namespace weft::coordinator
