// The room of the blob store: the reservations of jobs, and the bounds on other bytes.
#include "platform/store/room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace weft::store {
namespace {

const JobId job{{1}};
const Room::For results{.job = job, .part = Room::Part::results};
const Room::For join{.job = job, .part = Room::Part::join};

TEST(Room, OthersTakeNothingOfWhatIsSetAside) {
  Room room(100);
  ASSERT_TRUE(room.set_aside(job, {.results = 30, .join = 30}).has_value());

  const auto taken = room.take(41);

  EXPECT_EQ(taken.error(), (Error{ErrorCode::resource_exhausted,
                                  "The blobs would take more than 100 bytes, of which 60 are set "
                                  "aside for results of running jobs; --blobs-bytes-max raises "
                                  "the bound."}));
  ASSERT_TRUE(room.take(40).has_value());
  EXPECT_TRUE(room.take(30, results).has_value());
  EXPECT_FALSE(room.take(1, results).has_value()) << "results take nothing of the join's";
  EXPECT_TRUE(room.take(30, join).has_value());
  EXPECT_EQ(room.used(), 100U);
  EXPECT_EQ(room.aside(), 0U);
}

// Refused results stay for an hour. Results of strangers take the job's room for results, and none
// of the room that is reserved for known workers.
TEST(Room, StrangersTakeNothingOfWhatIsForKnownWorkers) {
  const Room::For of_known{.job = job, .part = Room::Part::of_known};
  const auto right_one_has_room = [&](std::uint64_t apart) {
    Room room(100);
    EXPECT_TRUE(room.set_aside(job, {.results = 30, .of_known = apart, .join = 30}).has_value());
    EXPECT_TRUE(room.take(30, results).has_value()) << "wrong";
    EXPECT_TRUE(room.take(room.aside() > 30 ? 10 : 40).has_value()) << "others' data";
    EXPECT_FALSE(room.take(1, results).has_value());
    return room.take(30, of_known).has_value();
  };
  EXPECT_TRUE(right_one_has_room(30));
  EXPECT_FALSE(right_one_has_room(0)) << "the attack";

  Room room(100);
  ASSERT_TRUE(room.set_aside(job, {.results = 30, .of_known = 30}).has_value());
  const auto taken = room.take(50, of_known).value();
  EXPECT_EQ(taken.from_job.results, 30U) << "first of what all may take";
  EXPECT_EQ(taken.from_job.of_known, 20U);
  room.give_back(taken, of_known);
  EXPECT_EQ(room.aside(), 60U);
  EXPECT_EQ(room.used(), 0U);
  EXPECT_TRUE(room.take(30, results).has_value());
}

Room::For by(std::uint8_t worker, const std::string& network,
             Room::Part part = Room::Part::results) {
  return {.job = job,
          .part = part,
          .stranger = Room::Stranger{.worker = PublicKey{{worker}}, .network = network}};
}

// Wrong results stay as long as rows name them, so those of one network could keep out right
// results.
TEST(Room, OneNetworkTakesAShareOfAJobsRoomForResults) {
  const auto other_has_room = [&](std::uint64_t network_max) {
    Room room(100);
    EXPECT_TRUE(room.set_aside(job, {.results = 50}, network_max).has_value());
    EXPECT_TRUE(room.take(50).has_value()) << "others' data";
    for (std::uint8_t worker = 1; worker <= 5; ++worker) (void)room.take(10, by(worker, "one"));
    EXPECT_EQ(room.used(), 50 + std::min<std::uint64_t>(50, network_max));
    for (int task = 0; task < 4; ++task) {
      if (!room.take(10, by(9, "other"))) return false;
      room.accepted(job, PublicKey{{9}}, 10);
    }
    return true;
  };
  EXPECT_TRUE(other_has_room(10));
  EXPECT_FALSE(other_has_room(Room::unbounded)) << "the attack";
}

TEST(Room, AcceptedResultsCountToNoNetwork) {
  Room room(50);
  ASSERT_TRUE(room.set_aside(job, {.results = 50}, 10).has_value());
  ASSERT_TRUE(room.take(10, by(1, "one")).has_value());
  ASSERT_FALSE(room.take(10, by(2, "one")).has_value());

  room.accepted(job, PublicKey{{2}}, 10);
  EXPECT_FALSE(room.take(10, by(2, "one")).has_value()) << "worker 2 has stored nothing";
  room.accepted(job, PublicKey{{1}}, 10);

  const auto taken = room.take(10, by(2, "one"));
  ASSERT_TRUE(taken.has_value());
  EXPECT_FALSE(room.take(10, by(3, "one")).has_value());
  room.give_back(*taken, by(2, "one"));
  EXPECT_TRUE(room.take(10, by(3, "one")).has_value()) << "what was given back does not count";
}

TEST(Room, AWorkerCountsToItsFirstNetwork) {
  Room room(50);
  ASSERT_TRUE(room.set_aside(job, {.results = 50}, 10).has_value());
  ASSERT_TRUE(room.take(10, by(1, "one")).has_value());

  EXPECT_FALSE(room.take(10, by(1, "other")).has_value());
  EXPECT_TRUE(room.take(40, results).has_value()) << "no bound counts for a known worker";
}

// Data other than results that strangers store could fill the store.
TEST(Room, StrangersTakeSharesOfFreeRoomWithinAnHour) {
  Instant at(std::chrono::hours(1));
  const auto other = Room::Part::other;
  Room room(1000, {.network = 0.25, .strangers = 0.5}, [&] { return at; });

  EXPECT_TRUE(room.take(250, by(1, "one", other)).has_value());
  EXPECT_EQ(room.take(1, by(2, "one", other)).error(),
            (Error{ErrorCode::resource_exhausted,
                   "Workers of one network that are neither invited nor established store at most "
                   "250 bytes within an hour beyond their share of a job's room, and all such "
                   "workers 500 (parts of --blobs-bytes-max); try again later."}));
  EXPECT_TRUE(room.take(250, by(3, "other", other)).has_value());
  EXPECT_FALSE(room.take(1, by(4, "third", other)).has_value()) << "all together";
  EXPECT_TRUE(room.take(100, Room::For{.job = job, .part = other}).has_value()) << "known";
  at += std::chrono::hours(1);
  EXPECT_TRUE(room.take(250, by(1, "one", other)).has_value());

  Room unbounded(1000, {.network = 1, .strangers = 1}, [&] { return at; });
  EXPECT_TRUE(unbounded.take(1000, by(1, "one", other)).has_value()) << "the attack";
}

TEST(Room, NetworksBeyondTheBoundShareOneBucket) {
  const Instant at(std::chrono::hours(1));
  Room room(1'000'000, {.network = 0.25, .strangers = 0.5}, [&] { return at; });
  for (std::size_t i = 0; i < Room::networks_max; ++i)
    ASSERT_TRUE(room.take(1, by(1, "network " + std::to_string(i), Room::Part::other)).has_value());

  EXPECT_TRUE(room.take(250'000, by(1, "one more", Room::Part::other)).has_value());
  EXPECT_FALSE(room.take(1, by(1, "and another", Room::Part::other)).has_value());
}

TEST(Room, AJobForWhichThereIsNoRoomIsRefused) {
  Room room(100);
  ASSERT_TRUE(room.take(50).has_value());

  EXPECT_EQ(room.set_aside(job, {.results = 30, .join = 30}).error(),
            (Error{ErrorCode::unavailable,
                   "The job's results take 60 bytes, and 50 of the store's 100 are left: try again "
                   "when data of other jobs have gone, or have the operator raise "
                   "--blobs-bytes-max."}));
  EXPECT_EQ(room.set_aside(job, {.results = 70, .join = 31}).error().code,
            ErrorCode::resource_exhausted)
      << "it would never fit";
  EXPECT_EQ(room.aside(), 0U);
}

TEST(Room, AJobThatEndsGivesBackWhatItHasNotTaken) {
  Room room(100);
  ASSERT_TRUE(room.set_aside(job, {.results = 50, .join = 50}).has_value());
  ASSERT_TRUE(room.take(20, results).has_value());

  room.end(job);
  room.end(job);

  EXPECT_EQ(room.used(), 20U);
  EXPECT_TRUE(room.take(80).has_value());
}

TEST(Room, WhatWasNotStoredIsSetAsideAgain) {
  Room room(100);
  ASSERT_TRUE(room.set_aside(job, {.results = 50, .join = 0}).has_value());
  const auto taken = room.take(60, results);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->from_job.results, 50U) << "the rest is free room";

  room.give_back(*taken, results);

  EXPECT_EQ(room.used(), 0U);
  EXPECT_EQ(room.aside(), 50U);
  const auto again = room.take(60, results);
  room.end(job);
  room.give_back(*again, results);
  EXPECT_EQ(room.aside(), 0U) << "the job has ended";
  EXPECT_EQ(room.used(), 0U);
}

TEST(Room, StatesUseTheirOwnRoomAgainWhenTheyAreRemoved) {
  Room room(100);
  ASSERT_TRUE(room.set_aside(job, {.results = 40, .join = 0, .states = 20}, 40).has_value());
  const Room::For states{.job = job,
                         .part = Room::Part::states,
                         .stranger = Room::Stranger{.worker = {}, .network = "192.0.2"}};
  ASSERT_TRUE(room.take(40).has_value()) << "all free room";
  for (int check = 0; check < 5; ++check) {
    ASSERT_TRUE(room.take(20, states).has_value()) << check;
    EXPECT_FALSE(room.take(1, states).has_value()) << "not the room of results";

    room.remove_used(20);
    room.states_removed(job, 20);

    EXPECT_EQ(room.aside(), 60U);
  }
  EXPECT_TRUE(room.take(40, results).has_value()) << "states do not count against results";
}

TEST(Room, NoMoreRoomForStatesComesBackThanTheJobHad) {
  Room room(100);
  ASSERT_TRUE(room.set_aside(job, {.results = 10, .join = 0, .states = 20}).has_value());

  room.states_removed(job, 50);
  EXPECT_EQ(room.aside(), 30U);
  room.end(job);
  room.states_removed(job, 50);

  EXPECT_EQ(room.aside(), 0U);
}

TEST(Room, WhatARunningJobWasPromisedHoldsAfterARestart) {
  Room room(100);
  room.add_used(90);

  room.restore(job, {.results = 10, .join = 10});

  EXPECT_FALSE(room.take(1).has_value());
  EXPECT_TRUE(room.take(10, results).has_value());
  EXPECT_TRUE(room.take(10, join).has_value());
}

}  // namespace
}  // namespace weft::store
