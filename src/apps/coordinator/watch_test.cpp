// Tests of /v1/watch over real sockets. A client that connects gets everything and then changes,
// until the job is done. A client that does not keep up costs nothing and catches up with a
// snapshot. A client that sends anything else is disconnected.
#include "common/protocol/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "apps/coordinator/test_process.h"

namespace weft::coordinator {
namespace {

namespace watch = protocol::watch;
using testing::Each;
using testing::Ge;
using testing::Gt;
using testing::SizeIs;

// A client with a WebSocket on /v1/watch, and the messages that it got.
class Watcher {
 public:
  Watcher(net::Client& client) {
    socket_ = client.connect("/v1/watch", {.text =
                                               [heard = heard_](std::string text) {
                                                 const std::lock_guard lock(heard->mutex);
                                                 heard->texts.push_back(std::move(text));
                                                 heard->changed.notify_all();
                                               },
                                           .closed =
                                               [heard = heard_](const Error&) {
                                                 const std::lock_guard lock(heard->mutex);
                                                 heard->closed = true;
                                                 heard->changed.notify_all();
                                               }});
  }
  ~Watcher() { socket_->close(); }

  // The next message; empty if none comes in time or the socket is closed.
  std::optional<std::string> hear(std::chrono::milliseconds patience = 20s) {
    std::unique_lock lock(heard_->mutex);
    heard_->changed.wait_for(lock, patience,
                             [this] { return heard_->closed || !heard_->texts.empty(); });
    if (heard_->texts.empty()) return std::nullopt;
    std::string text = std::move(heard_->texts.front());
    heard_->texts.pop_front();
    return text;
  }
  bool is_closed(std::chrono::milliseconds patience = 20s) {
    std::unique_lock lock(heard_->mutex);
    return heard_->changed.wait_for(lock, patience, [this] { return heard_->closed; });
  }
  void say(std::string text) { socket_->send_text(std::move(text)); }
  void seen(std::uint64_t sequence) { say(watch::encode(watch::Seen{.sequence = sequence})); }
  net::Socket& socket() { return *socket_; }

 private:
  struct Heard {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> texts;
    bool closed = false;
  };
  std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
  std::shared_ptr<net::Socket> socket_;
};

class WatchTest : public ProcessTest {};

TEST_F(WatchTest, TellsEverythingAtFirstAndThenWhatChangesUntilTheJobIsDone) {
  ScriptedWorker worker(process_->url(), {}, 1);
  Watcher watcher(*client_);
  const auto first = watcher.hear();
  ASSERT_TRUE(first.has_value());
  const auto snapshot = watch::decode_snapshot(*first);
  ASSERT_TRUE(snapshot.has_value()) << snapshot.error().message;
  EXPECT_THAT(snapshot->jobs, SizeIs(0));
  watcher.seen(snapshot->sequence);

  const auto id = submitted(jobs::count_manifest(200, 1), 1);
  std::vector<watch::TaskState> tasks;
  std::uint64_t sequence = snapshot->sequence;
  std::map<std::uint32_t, watch::Worker> workers;
  for (const auto& one : snapshot->workers) workers[one.number] = one;
  std::uint64_t accepted_in_history = 0;
  double latency = 0;
  std::optional<double> round_trip;
  watch::Job job;
  const Instant give_up = now() + 60s;
  while ((job.state != "done" || accepted_in_history < 200) && now() < give_up) {
    const auto text = watcher.hear();
    ASSERT_TRUE(text.has_value());
    const auto delta = watch::decode_delta(*text);
    ASSERT_TRUE(delta.has_value()) << delta.error().message;
    ASSERT_EQ(delta->sequence, ++sequence);
    watcher.seen(sequence);
    for (const auto& one : delta->joined) workers[one.number] = one;
    for (const auto& changed : delta->jobs) {
      job = changed;
      tasks.resize(changed.tasks);
      ASSERT_TRUE(watch::apply(changed.map, tasks).has_value());
    }
    for (const double ms : delta->loads.round_trip_ms) {
      if (ms >= 0) round_trip = ms;
    }
    for (std::size_t row = 0; row < delta->history.time.size(); ++row) {
      accepted_in_history += delta->history.accepted[row];
      if (delta->history.accepted[row] > 0) latency = delta->history.latency_ms[row];
    }
  }

  EXPECT_EQ(job.id, id);
  EXPECT_EQ(job.state, "done");
  EXPECT_EQ(job.counts[static_cast<std::size_t>(watch::TaskState::accepted)], 200U);
  EXPECT_THAT(tasks, Each(watch::TaskState::accepted));
  EXPECT_EQ(accepted_in_history, 200U);
  EXPECT_GT(latency, 0);
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_EQ(workers.begin()->second.kind, "native");
  ASSERT_TRUE(round_trip.has_value()) << "it was pinged when it came";
  EXPECT_THAT(*round_trip, Ge(0));
  EXPECT_LT(*round_trip, 10'000);
}

TEST_F(WatchTest, WhoComesLateIsShownWhatHasEnded) {
  ScriptedWorker worker(process_->url(), {}, 1);
  expect_settled(submitted(jobs::count_manifest(10, 1), 1), 10);

  Watcher watcher(*client_);
  const auto snapshot = watch::decode_snapshot(watcher.hear().value_or(""));

  ASSERT_TRUE(snapshot.has_value());
  ASSERT_THAT(snapshot->jobs, SizeIs(1));
  EXPECT_EQ(snapshot->jobs[0].state, "done");
  std::vector<watch::TaskState> tasks(10);
  ASSERT_TRUE(watch::apply(snapshot->jobs[0].map, tasks).has_value());
  EXPECT_THAT(tasks, Each(watch::TaskState::accepted));
  EXPECT_THAT(snapshot->history.per_unit, Each(Gt(0)));
}

TEST_F(WatchTest, WhoDoesNotKeepUpIsSentNothingMoreUntilItHasAndThenASnapshot) {
  Watcher slow(*client_);
  const auto first = watch::decode_snapshot(slow.hear().value_or(""));
  ASSERT_TRUE(first.has_value());

  // The history gets a row each second, which is a change to report.
  std::uint64_t sequence = first->sequence;
  for (std::uint32_t heard = 1; heard < watch::unseen_max; ++heard) {
    const auto delta = watch::decode_delta(slow.hear().value_or(""));
    ASSERT_TRUE(delta.has_value());
    EXPECT_EQ(delta->sequence, ++sequence);
  }
  EXPECT_FALSE(slow.hear(2500ms).has_value());
  slow.seen(sequence);
  const auto caught_up = watch::decode_snapshot(slow.hear().value_or(""));

  ASSERT_TRUE(caught_up.has_value());
  EXPECT_GT(caught_up->sequence, sequence);
}

TEST_F(WatchTest, WhoSaysAnythingElseIsShownTheDoorAndTheOthersWatchOn) {
  Watcher honest(*client_);
  ASSERT_TRUE(honest.hear().has_value());
  const std::vector<std::function<void(Watcher&)>> rows = {
      [](Watcher& watcher) { watcher.say("{"); },
      [](Watcher& watcher) { watcher.say(R"({"type":"seen","sequence":1,"also":2})"); },
      [](Watcher& watcher) { watcher.seen(1'000'000); },
      [](Watcher& watcher) { watcher.say(std::string(100'000, ' ')); },
      [](Watcher& watcher) { watcher.socket().send_binary(ByteVector(8, 0)); },
  };

  for (std::size_t row = 0; row < rows.size(); ++row) {
    Watcher rude(*client_);
    ASSERT_TRUE(rude.hear().has_value()) << "row " << row;
    rows[row](rude);
    EXPECT_TRUE(rude.is_closed()) << "row " << row;
  }

  EXPECT_TRUE(honest.hear().has_value());
  EXPECT_FALSE(honest.is_closed(1ms));
}

}  // namespace
}  // namespace weft::coordinator
