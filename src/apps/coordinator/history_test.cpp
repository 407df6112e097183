// Random histories of the whole core, with the real sessions and checks, in any order and with the
// process ending at any moment: no money is made, lost or locked permanently, stored work
// continues, and an accepted job has the right bytes.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "apps/coordinator/test_network.h"
#include "common/base/format.h"
#include "common/base/long_tests.h"
#include "common/proof/fingerprint.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/completions.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {
namespace {

using ledger::Account;

// Settings in which workers get reputation and stakes within a few tasks, so that working alone,
// audits, juries and convictions all occur.
jobs::CoreSettings lively_settings() {
  jobs::CoreSettings settings = TestNetwork::by_heads();
  settings.referee.reputation.half = 1e-9;
  settings.referee.reputation.probation = 1;
  settings.referee.reputation.suspension = 20'000;
  settings.referee.checks.replica_floor = 0.1;
  settings.referee.checks.trap_floor = 0.1;
  settings.referee.checks.error = 0.1;
  settings.referee.hold_max = 6;
  settings.stake_permille = 500;
  settings.stake_target = 100'000;
  settings.stakes_open = true;
  return settings;
}

// Adds the functions that the core needs for models' answers.
class HistoryNetwork : public TestNetwork {
 public:
  using TestNetwork::TestNetwork;
  std::vector<billing::AnswerAuditOrder> audits;
  void audit_answer(const billing::AnswerAuditOrder& order) override { audits.push_back(order); }
};

inference::Prints prints_of(std::uint32_t tokens) {
  inference::Prints out;
  const std::vector<float> hidden(64, 0.5F);
  for (std::uint32_t at = 0; at < tokens; at += proof::fingerprint_interval)
    out[at] = proof::fingerprint(hidden).value();
  out[tokens] = out[0];
  return out;
}

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed), always_wrong_(seed % 2 == 0) {
    for (int i = 0; i < honest_count + 1; ++i) keys_.push_back(crypto::KeyPair::generate().value());
    places_.resize(keys_.size());
  }

  void run(int steps) {
    for (int i = 0; i < honest_count; ++i) join(static_cast<std::size_t>(i));
    for (int step = 0; step < steps && !testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE(weft::format("step {}", step));
      act();
      check_money();
    }
    settle();
    check_end();
  }

  int done = 0, failed = 0, cancelled = 0, restarts = 0;

 private:
  static constexpr int honest_count = 5;  // A sixth worker may behave in any way.
  struct Known {
    JobId id;
    std::uint32_t tasks = 0, replicas = 0;
    crypto::KeyPair* client = nullptr;
  };
  struct Place {
    TestWorker* worker = nullptr;
    std::vector<std::pair<protocol::Lease, protocol::LeasedTask>>
        held;  // Tasks leased while the worker was silent.
  };

  std::size_t pick(std::size_t bound) { return random_() % bound; }
  bool chance(std::size_t percent) { return pick(100) < percent; }
  [[nodiscard]] bool is_here(std::size_t i) const {
    return places_[i].worker != nullptr && !places_[i].worker->closed;
  }

  void act() {
    switch (pick(15)) {
      case 0:
      case 1:
      case 2:
        return submit();
      case 3:
        return chance(30) ? cancel() : network_.pass(std::chrono::milliseconds(pick(300)));
      case 4:
        return join(pick(keys_.size()));
      case 5:
        return leave(pick(keys_.size()));
      case 6:
        return move_stake(pick(keys_.size()));
      case 7:
        return chance(60) ? restart() : network_.pass(std::chrono::milliseconds(pick(2'000)));
      case 8:
        return network_.pass(std::chrono::milliseconds(chance(20) ? pick(45'000) : pick(1'500)));
      case 9:
        return speak_up(pick(keys_.size()));
      case 10:
        return ask();
      case 11:
        return answer();
      case 12:
        return judge();
      case 13:
        return chance(30) ? lose_power() : beat(std::chrono::milliseconds(500));
      default:
        return beat(std::chrono::milliseconds(500));
    }
  }

  void submit() {
    const std::uint32_t tasks = 1 + static_cast<std::uint32_t>(pick(6));
    const std::uint32_t replicas = 1 + static_cast<std::uint32_t>(pick(3));
    const double audit = chance(50) ? 0 : chance(50) ? 1 : 0.5;
    store::SubmitNonce nonce{};
    ++nonces_;
    std::memcpy(nonce.data(), &nonces_, sizeof nonces_);
    crypto::KeyPair& client = clients_[pick(clients_.size())];
    const auto submitted =
        network_.submit(client, jobs::count_manifest(tasks, replicas, "", 1, audit), nonce);
    if (network_.hold_commits) return;  // The submission has no reply yet and is going to be lost.
    ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
    jobs_.push_back({.id = JobId::parse(submitted->id).value(),
                     .tasks = tasks,
                     .replicas = replicas,
                     .client = &client});
  }
  void cancel() {
    if (jobs_.empty()) return;
    const Known& job = jobs_[pick(jobs_.size())];
    network_.post([&](jobs::Core& core, jobs::Moment now) {
      core.jobs().cancel({.job = job.id, .client = job.client->public_key()}, now,
                         [](const Result<protocol::api::Submitted>&) {});
    });
    network_.run();
  }

  // A result that is wrong in every part, so that an audit of any part finds it.
  static ByteVector garbage(const protocol::LeasedTask& task) {
    ByteVector bytes;
    for (std::uint32_t i = task.first; i < task.first + task.count; ++i)
      append_le(bytes, i + 1'000'000);
    return bytes;
  }
  jobs::Behaviour behaviour_of(std::size_t i) {
    jobs::Behaviour behaviour;
    behaviour.silent = chance(25);
    behaviour.doubled = chance(10);
    behaviour.receipt_first = chance(30);
    behaviour.fails = chance(5);
    behaviour.opens_nothing = chance(10);
    if (i == honest_count && always_wrong_) behaviour.compute = garbage;
    if (i == honest_count && !always_wrong_) behaviour.wrong_byte = chance(80);
    return behaviour;
  }
  // Connects worker `i`, even if its old connection is still open. The worker reports the tasks
  // that it holds, and sometimes a task that it does not hold.
  void join(std::size_t i) {
    Place& place = places_[i];
    remember(place);
    place.worker = &network_.connect(keys_[i], behaviour_of(i));
    place.worker->connect();
    protocol::Resume resume;
    for (const auto& [lease, task] : place.held) resume.held.push_back(held_of(lease, task));
    if (chance(10) && !jobs_.empty())
      resume.held.push_back({.task = {.job = jobs_.back().id, .index = 0}, .attempt = 1});
    if (!resume.held.empty()) place.worker->say(resume);
    if (chance(70)) deliver_held(place);
    network_.run();
  }
  void deliver_held(Place& place) {
    for (const auto& [lease, task] : std::exchange(place.held, {}))
      place.worker->deliver(lease, task);
  }
  // Records the worker's verdicts and, if it was silent, its unanswered leases.
  void remember(Place& place) {
    if (place.worker == nullptr) return;
    for (const auto& verdict : std::exchange(place.worker->verdicts, {})) {
      if (verdict.accepted) told_.insert(verdict.task);
    }
    if (!place.worker->behaviour.silent) return;
    for (const auto& lease : place.worker->leases) {
      for (const auto& task : lease.tasks) place.held.emplace_back(lease, task);
    }
    place.worker->leases.clear();
  }
  void leave(std::size_t i) {
    if (!is_here(i)) return;
    remember(places_[i]);
    if (chance(50)) {
      places_[i].worker->say(protocol::Bye{});
    } else {
      places_[i].worker->line->on_closed();
      places_[i].worker->closed = true;
    }
    network_.run();
  }
  // Makes a silent worker deliver the tasks that it holds.
  void speak_up(std::size_t i) {
    if (!is_here(i) || !places_[i].worker->behaviour.silent) return;
    remember(places_[i]);
    places_[i].worker->behaviour.silent = false;
    deliver_held(places_[i]);
    network_.run();
  }
  void beat(std::chrono::milliseconds time) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (is_here(i) && places_[i].worker->welcomed) places_[i].worker->say(protocol::Beat{});
    }
    network_.pass(time);
  }

  void move_stake(std::size_t i) {
    const auto wallet = keys_[i].public_key();
    const bool deposit = chance(50);
    const MicroCredits amount = 1 + static_cast<MicroCredits>(pick(500));
    network_.post([=, number = ++nonces_](jobs::Core& core, jobs::Moment now) {
      core.stakes().move({.wallet = wallet, .deposit = deposit, .amount = amount, .number = number},
                         now, [](const Result<jobs::StakeView>&) {});
    });
    network_.run();
  }

  // --- Answers of models: requested with a key, given by some of the workers, audited by others.
  void ask() {
    if (!key_) {
      billing::ApiKey key{.id = "0123456789abcdef",
                          .name = "test",
                          .hash = billing::api_key_hash("weft-test"),
                          .owner = clients_[0].public_key()};
      network_.post([&](jobs::Core& core, jobs::Moment now) {
        core.keys().add(key, billing::KeyMaker::client, 0, now,
                        [&](const Result<billing::ApiKey>& made) { key_ = *made; });
      });
      network_.run();
      if (!key_) return;
    }
    const std::uint64_t tokens = 20 + pick(200);
    const billing::AnswerOrder order{
        .key = key_->hash,
        .model = "tiny",
        .ids = network_.new_ids(1 + static_cast<std::uint32_t>(pick(3))),
        .tokens_likely = tokens,
        .tokens_worst = tokens,
        .tokens_least = 12,
        .price = static_cast<MicroCredits>(pick(100'000))};
    network_.post([&](jobs::Core& core, jobs::Moment now) {
      core.completions().admit(order, now, [&](const Result<billing::AnswerAdmission>& admitted) {
        asked_.insert(asked_.end(), admitted->answers.begin(), admitted->answers.end());
      });
    });
    network_.run();
  }
  void answer() {
    if (asked_.empty()) return;
    const billing::AnswerId id = asked_.back();
    asked_.pop_back();
    const auto tokens = static_cast<std::uint32_t>(1 + pick(100));
    inference::AnswerEnd end{.reason = chance(20)   ? "failed"
                                       : chance(20) ? "cancelled"
                                                    : "eos",
                             .prompt_tokens = static_cast<std::uint32_t>(pick(30))};
    end.answered.assign(tokens, 5);
    end.answer_tokens = tokens;
    if (chance(90)) end.prints = prints_of(tokens);
    for (std::size_t i = 1 + pick(2); i > 0; --i)
      end.work.push_back({.worker = keys_[pick(keys_.size())].public_key(), .work = pick(1'000)});
    network_.post([&](jobs::Core& core, jobs::Moment now) {
      core.completions().answered({.id = id, .end = end}, now);
    });
    network_.run();
  }
  void judge() {
    for (const billing::AnswerAuditOrder& order : std::exchange(network_.audits, {})) {
      billing::AnswerAudited audited{.id = order.id, .reason = "They differ."};
      const auto auditor = keys_[pick(keys_.size())].public_key();
      if (!std::ranges::contains(order.except, auditor)) {
        audited.auditors = {auditor};
        audited.verdict = chance(70)   ? billing::AnswerVerdict::agrees
                          : chance(50) ? billing::AnswerVerdict::differs
                                       : billing::AnswerVerdict::unheard;
      }
      network_.post(
          [=](jobs::Core& core, jobs::Moment now) { core.completions().audited(audited, now); });
      network_.run();
    }
  }

  // Ends the process before decisions are stored. They must have no effect, because no client was
  // told of them.
  void lose_power() {
    network_.run();
    const auto balances = all_balances();
    const auto views = all_views();
    network_.hold_commits = true;
    for (std::size_t i = 1 + pick(4); i > 0; --i) {
      switch (pick(6)) {
        case 0:
          submit();
          break;
        case 1:
          cancel();
          break;
        case 2:
          join(pick(keys_.size()));
          break;
        case 3:
          speak_up(pick(keys_.size()));
          break;
        case 4:
          move_stake(pick(keys_.size()));
          break;
        default:
          beat(std::chrono::milliseconds(500));
      }
    }
    network_.hold_commits = false;
    begin_again(balances, views);
  }
  void restart() { begin_again(all_balances(), all_views()); }
  void begin_again(const std::map<std::string, MicroCredits>& balances,
                   const std::vector<protocol::api::Job>& views) {
    ++restarts;
    for (Place& place : places_) remember(place);

    network_.restart();
    for (Place& place : places_) place.worker = nullptr;
    asked_.clear();
    network_.audits.clear();

    // The only allowed difference: a worker that is believed by now may also be believed about a
    // result that it delivered earlier.
    const auto views_now = all_views();
    ASSERT_EQ(views_now.size(), views.size());
    for (std::size_t i = 0; i < views.size(); ++i) {
      EXPECT_GE(views_now[i].accepted, views[i].accepted) << views[i].id;
      const bool same_state = views_now[i].state == views[i].state;
      EXPECT_EQ(same_state ? views_now[i].price : 0, same_state ? views[i].price : 0)
          << views[i].id;
    }
    if (std::ranges::equal(views_now, views, {}, &protocol::api::Job::accepted,
                           &protocol::api::Job::accepted)) {
      EXPECT_EQ(all_balances(), balances);
    }
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (chance(70)) join(i);
    }
  }

  std::map<std::string, MicroCredits> all_balances() {
    std::map<std::string, MicroCredits> all;
    network_.post([&](jobs::Core& core, jobs::Moment) {
      core.views().ledger([&](const Result<protocol::api::Ledger>& view) {
        for (const auto& each : view->balances) all[each.account] = each.amount;
      });
    });
    network_.run();
    // Credits reserved for answers return to the client when the process ends.
    const std::string client = Account::owner(OwnerId::of_first(clients_[0].public_key())).text();
    for (auto each = all.begin(); each != all.end();) {
      const auto of_job = [&](const Known& job) {
        return each->first == Account::escrow(job.id).text();
      };
      if (!each->first.starts_with("escrow:") || std::ranges::any_of(jobs_, of_job)) {
        ++each;
        continue;
      }
      all[client] += each->second;
      each = all.erase(each);
    }
    return all;
  }
  // The progress and price of all running jobs.
  std::vector<protocol::api::Job> all_views() {
    std::vector<protocol::api::Job> rows;
    for (const Known& job : jobs_) {
      const auto stored = network_.store().job(job.id).value();
      auto& row = rows.emplace_back();
      row.id = job.id.text();
      row.state = std::string(to_string(stored.state));
      row.accepted = stored.accepted;
    }
    std::vector<protocol::api::Job> views;
    network_.post([&](jobs::Core& core, jobs::Moment) {
      core.views().live(
          rows, [&](const Result<std::vector<protocol::api::Job>>& jobs) { views = *jobs; });
    });
    network_.run();
    return views;
  }

  void check_money() {
    for (const Known& job : jobs_) {
      const auto row = network_.store().job(job.id).value();
      const MicroCredits escrow = network_.balance(Account::escrow(job.id));
      if (store::is_terminal(row.state)) {
        EXPECT_EQ(escrow, 0) << job.id.text();
      } else {
        EXPECT_EQ(escrow, row.budget - row.price / row.tasks * row.accepted) << job.id.text();
      }
    }
  }

  // Connects all honest workers and lets them work until all jobs have ended.
  void settle() {
    for (std::size_t i = 0; i < keys_.size(); ++i) leave(i);
    while (!asked_.empty()) answer();
    for (int i = 0; i < 50 && !network_.audits.empty(); ++i) judge();
    for (std::size_t i = 0; i < honest_count; ++i) {
      places_[i].held.clear();
      auto& worker = network_.connect(keys_[i]);
      places_[i].worker = &worker;
      worker.connect();
    }
    network_.run();
    const auto all_ended = [&] {
      return std::ranges::all_of(jobs_, [&](const Known& job) {
        return store::is_terminal(network_.store().job(job.id)->state);
      });
    };
    for (int i = 0; i < 600 && !all_ended(); ++i) beat(std::chrono::milliseconds(500));
  }

  // The stored state of a job, for the message of a failed test.
  std::string told(const store::Job& job) {
    if (store::is_terminal(job.state)) return {};
    std::string text = job.manifest.substr(job.manifest.find("\"verify\""), 80);
    const auto replicas = network_.store().replicas(job.id);
    for (const auto& replica : *replicas)
      text += weft::format("\n{} by {}: {}", replica.task.index, replica.worker.text().substr(0, 4),
                           replica.root.text().substr(0, 4));
    return text;
  }

  void check_end() {
    for (Place& place : places_) remember(place);
    for (const TaskId& task : told_) {
      const auto accepted = network_.store().tasks(task.job);
      ASSERT_TRUE(accepted.has_value()) << accepted.error().message;
      EXPECT_TRUE(std::ranges::contains(*accepted, task, &store::Task::id))
          << task.text() << " was said to be accepted";
    }
    MicroCredits spent = 0;
    for (const Known& known : jobs_) {
      const auto job = network_.store().job(known.id).value();
      EXPECT_TRUE(store::is_terminal(job.state))
          << job.id.text() << " of " << job.tasks << " tasks, " << job.accepted << " accepted"
          << told(job);
      spent += job.price / job.tasks * job.accepted;
      failed += job.state == store::JobState::failed ? 1 : 0;
      cancelled += job.state == store::JobState::cancelled ? 1 : 0;
      if (job.state != store::JobState::done) continue;
      ++done;
      EXPECT_GT(job.price, 0) << job.id.text() << " was paid for nothing";
      if (known.replicas < 2 || !always_wrong_)
        continue;  // A worker that was honest before may work alone without being found.
      ByteVector expected;
      for (std::uint32_t i = 0; i < job.tasks * 4; ++i) append_le(expected, i);
      EXPECT_EQ(network_.output(job), expected) << job.id.text();
    }
    // No credits are at risk any more, so that every stake can be withdrawn.
    MicroCredits owned = network_.balance(Account::platform());
    for (const crypto::KeyPair& key : keys_) {
      const auto wallet = key.public_key();
      const MicroCredits staked = network_.balance(Account::stake(OwnerId::of_first(wallet)));
      if (staked > 0) {
        network_.post([&](jobs::Core& core, jobs::Moment now) {
          core.stakes().move(
              {.wallet = wallet, .deposit = false, .amount = staked, .number = ++nonces_}, now,
              [](const Result<jobs::StakeView>& view) {
                EXPECT_TRUE(view.has_value()) << view.error().message;
              });
        });
        network_.run();
      }
      EXPECT_EQ(network_.balance(Account::stake(OwnerId::of_first(wallet))), 0);
      owned += network_.balance(Account::owner(OwnerId::of_first(wallet)));
    }
    MicroCredits left = 0;
    for (const crypto::KeyPair& client : clients_)
      left += network_.balance(Account::owner(OwnerId::of_first(client.public_key())));
    EXPECT_EQ(owned + left, -network_.balance(Account::mint())) << "nothing is set aside any more";
    if (key_)
      network_.post([&](jobs::Core& core, jobs::Moment) {
        core.keys().list({}, [&](const Result<std::vector<billing::ApiKey>>& keys) {
          spent += keys->front().credits;
        });
      });
    network_.run();
    EXPECT_LE(owned, spent) << "workers have what clients paid and no more";
    EXPECT_TRUE(network_.store().audit().has_value());
  }

  std::mt19937_64 random_;
  const bool always_wrong_;  // The dishonest worker is always wrong.
  std::vector<crypto::KeyPair> clients_ = [] {
    std::vector<crypto::KeyPair> made;
    for (int i = 0; i < 3; ++i) made.push_back(crypto::KeyPair::generate().value());
    return made;
  }();
  std::vector<crypto::KeyPair> keys_;
  HistoryNetwork network_{lively_settings()};
  std::vector<Place> places_;
  std::vector<Known> jobs_;
  std::set<TaskId> told_;  // Tasks that a worker was told are accepted.
  std::optional<billing::ApiKey> key_;
  std::vector<billing::AnswerId> asked_;  // Requests to models that have no answer yet.
  std::uint64_t nonces_ = 0;
};

TEST(CoreHistories, KeepTheMoneyAndTheBytesWhateverHappensAndWheneverTheProcessEnds) {
  const int seeds = weft::test::long_tests() ? 400 : 12;
  int done = 0, restarts = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(weft::format("seed {}", seed));
    History history(static_cast<std::uint64_t>(seed));
    history.run(120);
    done += history.done;
    restarts += history.restarts;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(done, seeds * 2);
  EXPECT_GE(restarts, seeds);
}

}  // namespace
}  // namespace weft::coordinator
