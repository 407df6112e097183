#include "decisions/trust/simulation/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <numeric>
#include <vector>

#include "common/base/check.h"
#include "common/base/match.h"
#include "decisions/ledger/ledger.h"

namespace weft::trust::simulation {
namespace {

PublicKey key_of(std::uint32_t number) {
  PublicKey key;
  const std::uint32_t mark = number + 1;
  std::memcpy(key.bytes.data(), &mark, sizeof mark);
  return key;
}

Secret secret_of(std::uint64_t seed) {
  Secret secret;
  std::memcpy(secret.bytes.data(), &seed, sizeof seed);
  return secret;
}

class Network {
 public:
  explicit Network(const Options& options)
      : options_(options),
        random_(options.seed),
        referee_(options.referee, secret_of(options.seed)) {
    referee_.standing().set_root_at_hand([verifier = options.verifier] { return verifier; });
    clients_.resize(std::max(options_.clients, 1U));
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      clients_[i].bytes[30] = static_cast<std::uint8_t>(i);
      clients_[i].bytes[31] = 1;
      apply(ledger::issue(
          clients_[i],
          options_.value * (2 + options_.replicas) * (options_.tasks + options_.job_tasks), 1));
    }
    std::vector<Kind> kinds(options_.workers, Kind::honest);
    std::size_t next = 0;
    for (std::size_t kind = 1; kind < options_.shares.size(); ++kind) {
      const auto count =
          static_cast<std::size_t>(std::lround(options_.shares[kind] * options_.workers));
      for (std::size_t i = 0; i < count && next < kinds.size(); ++i)
        kinds[next++] = static_cast<Kind>(kind);
    }
    std::shuffle(kinds.begin(), kinds.end(), random_);
    for (std::uint32_t i = 0; i < options_.workers; ++i) {
      workers_.push_back({.key = {}, .kind = kinds[i], .convicted = false});
      ++outcome_.kinds[static_cast<std::size_t>(kinds[i])].workers;
      give_wallet(i);
    }
  }

  void give_wallet(std::uint32_t number) {
    const PublicKey key = key_of(wallets_++);
    workers_[number].key = key;
    numbers_.emplace(key, number);
    const auto stake =
        static_cast<MicroCredits>(options_.stake * static_cast<double>(options_.value));
    if (stake <= 0 || workers_[number].kind == Kind::sybil) return;
    const OwnerId owner = OwnerId::of_first(key);
    apply(ledger::issue(owner, stake, 1));
    apply(ledger::deposit_stake(owner, stake, 1));
  }

  Outcome run() {
    std::vector<std::uint32_t> order(workers_.size());
    std::iota(order.begin(), order.end(), 0U);
    // The rounds end when every task is accepted. They have a bound, so that a fault of the policy
    // shows as missing tasks and not as a hang.
    const std::uint64_t rounds_max = 20ULL * options_.tasks / options_.workers + 1000;
    for (std::uint64_t round = 0; round < rounds_max && (given_ < options_.tasks || !jobs_.empty());
         ++round) {
      std::shuffle(order.begin(), order.end(), random_);
      for (const std::uint32_t worker : order) {
        turn(worker);
        while (!polls_.empty()) {
          const PollWanted wanted = std::move(polls_.front());
          polls_.pop_front();
          poll(wanted);
        }
      }
      now_ += options_.turn;
    }
    const auto relative = [](double work, std::uint64_t tasks) {
      return tasks == 0 ? 0 : work / static_cast<double>(tasks);
    };
    const std::uint64_t warm = options_.tasks - options_.tasks / 2;
    outcome_.extra_work_cold = relative(work_[0].sum(), options_.tasks / 2);
    outcome_.extra_work_warm = relative(work_[1].sum(), warm);
    outcome_.extra_replicas = relative(work_[1].replicas, warm);
    outcome_.extra_audits = relative(work_[1].audits, warm);
    outcome_.extra_traps = relative(work_[1].traps, warm);
    outcome_.ledger_sum = ledger_.sum();
    outcome_.undecided = given_ - outcome_.tasks;
    return outcome_;
  }

 private:
  struct Worker {
    PublicKey key;
    Kind kind = Kind::honest;
    bool convicted = false;
  };
  struct Need {
    TaskId task;
    std::uint32_t wanted = 0;
  };
  struct Work {
    double replicas = 0;
    double audits = 0;
    double traps = 0;
    [[nodiscard]] double sum() const { return replicas + audits + traps; }
  };
  struct Job {
    std::uint32_t given = 0;
    std::uint32_t accepted = 0;
    std::map<std::uint32_t, std::map<std::uint32_t, Answer>>
        answers;  // Answers to open tasks, by task index and worker.
  };

  void apply(const ledger::Transaction& transaction) {
    const auto applied = ledger_.apply(transaction);
    check(applied.has_value(), "the simulated ledger takes what the referee decides");
  }
  KindResult& result_of(std::uint32_t worker) {
    return outcome_.kinds[static_cast<std::size_t>(workers_[worker].kind)];
  }
  Work& work() { return work_[given_ > options_.tasks / 2 ? 1 : 0]; }
  double reputation(std::uint32_t worker) const {
    return referee_.book().reputation(workers_[worker].key, now_);
  }

  void turn(std::uint32_t number) {
    if (workers_[number].kind == Kind::sybil &&
        referee_.book().suspended(workers_[number].key, now_))
      give_wallet(number);
    // A suspended worker is leased nothing.
    if (referee_.book().suspended(workers_[number].key, now_)) return;
    if ((!options_.verifier && audit(number)) || replicate(number)) return;
    fresh(number);
  }

  // Plays the coordinator's verifier. It computes the wanted number of parts, beginning with the
  // drawn one. In a dispute it computes the parts in which the results differ, which counts as the
  // work of one part.
  void verify(const AuditWanted& wanted) {
    const auto job = jobs_.find(wanted.task.job);
    if (job == jobs_.end()) return;
    const auto* answers = find_answers(job->second, wanted.task.index);
    if (answers == nullptr) return;
    const auto suspected = answers->find(numbers_.at(wanted.suspect));
    if (suspected == answers->end()) return;
    const std::uint32_t samples = wanted.dispute ? 1 : wanted.samples;
    work().audits += static_cast<double>(samples) / wanted.parts;
    bool agrees = !wanted.dispute || suspected->second.right();
    for (std::uint32_t i = 0; i < samples; ++i) {
      const std::uint32_t part = (wanted.part + i) % wanted.parts;
      for (std::uint32_t at = part * answer_parts / wanted.parts;
           at < (part + 1) * answer_parts / wanted.parts; ++at)
        agrees = agrees && ((suspected->second.wrong >> at) & 1) == 0;
    }
    carry_out(referee_.audited(
        wanted.task, {}, agrees ? AuditOutcome::agrees : AuditOutcome::differs, now_,
        Auditor::coordinator,
        {.devices = Devices::two, .vendor = {}, .part = Part{.first = wanted.part, .count = 1}}));
  }

  // Asks workers for a poll. Dishonest workers answer that the device is at fault.
  void poll(const PollWanted& wanted) {
    std::vector<std::uint32_t> able;
    for (std::uint32_t number = 0; number < workers_.size(); ++number) {
      if (referee_.level(workers_[number].key, now_) != Level::newcomer &&
          !std::ranges::contains(wanted.except, workers_[number].key))
        able.push_back(number);
    }
    std::shuffle(able.begin(), able.end(), random_);
    for (std::uint32_t i = 0; i < wanted.count; ++i) {
      const bool there = i < able.size();
      if (there) work().audits += 1.0 / answer_parts;
      const bool honest = there && workers_[able[i]].kind == Kind::honest;
      carry_out(referee_.polled(wanted.task, wanted.suspect,
                                there ? workers_[able[i]].key : PublicKey{},
                                !there   ? AuditOutcome::failed
                                : honest ? AuditOutcome::agrees
                                         : AuditOutcome::differs,
                                now_));
    }
  }

  bool audit(std::uint32_t number) {
    const auto wanted = std::ranges::find_if(
        audits_, [&](const AuditWanted& each) { return each.suspect != workers_[number].key; });
    if (wanted == audits_.end()) return false;
    const AuditWanted chosen = std::move(*wanted);
    audits_.erase(wanted);
    work().audits += 1.0 / chosen.parts;
    const std::uint32_t suspect = numbers_.at(chosen.suspect);
    const Answer& suspected = jobs_.at(chosen.task.job).answers.at(chosen.task.index).at(suspect);
    // An audited part may contain several parts of the simulated answer, which has answer_parts
    // parts.
    bool agrees = true;
    for (std::uint32_t part = chosen.part * answer_parts / chosen.parts;
         part < (chosen.part + 1) * answer_parts / chosen.parts; ++part) {
      agrees =
          agrees && audit_agrees({.kind = workers_[number].kind, .reputation = reputation(number)},
                                 workers_[suspect].kind, suspected, part, random_);
    }
    act(referee_.audited(chosen.task, workers_[number].key,
                         agrees ? AuditOutcome::agrees : AuditOutcome::differs, now_));
    return true;
  }

  bool replicate(std::uint32_t number) {
    for (auto need = needs_.begin(); need != needs_.end();) {
      const auto job = jobs_.find(need->task.job);
      const auto answers =
          job == jobs_.end() ? nullptr : find_answers(job->second, need->task.index);
      if (answers == nullptr || answers->size() >= need->wanted) {
        need = needs_.erase(need);
        continue;
      }
      if (answers->contains(number)) {
        ++need;
        continue;
      }
      work().replicas += 1;
      deliver(number, TaskId(need->task));
      return true;
    }
    return false;
  }

  void fresh(std::uint32_t number) {
    if (given_ >= options_.tasks) return;
    if (open_job_ == jobs_.end() || open_job_->second.given == options_.job_tasks) start_job();
    const TaskId task{.job = open_job_->first, .index = open_job_->second.given++};
    ++given_;
    const PublicKey& key = workers_[number].key;
    act(referee_.leased(task, key, options_.value,
                        ledger_.balance(ledger::Account::stake(OwnerId::of_first(key))), now_));
    if (!jobs_.contains(task.job)) return;
    if (const auto trap = referee_.trap_for(task, key, now_)) {
      work().traps += 1;
      const Answer given =
          answer(workers_[number].kind, number, reputation(number), trap->task, pact_, random_);
      if (!given.right()) ++result_of(number).cheats;
      act(referee_.trap_answered(*trap, key, given.root == trap->root, now_));
    }
    deliver(number, task);
  }

  void deliver(std::uint32_t number, const TaskId& task) {
    const auto job = jobs_.find(task.job);
    if (job == jobs_.end()) return;
    const PublicKey& key = workers_[number].key;
    const Answer given =
        answer(workers_[number].kind, number, reputation(number), task, pact_, random_);
    if (!given.right()) ++result_of(number).cheats;
    job->second.answers[task.index][number] = given;
    act(referee_.add_result({.task = task, .worker = key, .attempt = 1, .root = given.root}, now_));
    const std::array<Claim, 1> claims{Claim{.task = task, .attempt = 1, .root = given.root}};
    act(referee_.add_receipt(key, claims, now_));
  }

  static std::map<std::uint32_t, Answer>* find_answers(Job& job, std::uint32_t index) {
    const auto found = job.answers.find(index);
    return found == job.answers.end() ? nullptr : &found->second;
  }

  void start_job() {
    JobId id;
    const std::uint32_t number = ++jobs_started_;
    std::memcpy(id.bytes.data(), &number, sizeof number);
    const std::uint32_t tasks = std::min(options_.job_tasks, options_.tasks - given_);
    referee_.add_job(id,
                     {.replicas = options_.replicas,
                      .audit = 0,
                      .parts = answer_parts,
                      .agree = {},
                      .client = PublicKey{{client_of(id).bytes}}},
                     tasks);
    apply(ledger::open_escrow(id, client_of(id), options_.value * options_.replicas * tasks,
                              ledger_.spendable(client_of(id))));
    open_job_ = jobs_.emplace(id, Job{}).first;
    tasks_of_[id] = tasks;
  }
  const OwnerId& client_of(const JobId& id) const {
    std::uint32_t number = 0;
    std::memcpy(&number, id.bytes.data(), sizeof number);
    return clients_[number % clients_.size()];
  }
  void end_job(const JobId& id) {
    const ledger::Funds rest = ledger_.escrow(id);
    if (rest.total() > 0) apply(ledger::close_escrow(id, client_of(id), rest));
    ledger_.close(id);
    referee_.remove_job(id);
    std::erase_if(audits_, [&](const AuditWanted& each) { return each.task.job == id; });
    const bool was_open = open_job_ != jobs_.end() && open_job_->first == id;
    jobs_.erase(id);
    if (was_open) open_job_ = jobs_.end();
  }

  void act(const std::vector<Ruling>& rulings) {
    carry_out(rulings);
    // Jobs end only after the rulings are carried out, because the rulings still name them.
    for (; !ended_.empty(); ended_.pop_front()) end_job(ended_.front());
  }
  void carry_out(const std::vector<Ruling>& rulings) {
    for (const Ruling& ruling : rulings) {
      std::visit(
          Match{[](const Counted&) {}, [](const Refused&) {},
                [&](const Accepted& accepted) { accept(accepted); },
                [&](const NeedReplicas& need) {
                  const auto known = std::ranges::find(needs_, need.task, &Need::task);
                  if (known != needs_.end()) {
                    known->wanted = std::max(known->wanted, need.replicas);
                  } else {
                    needs_.push_back({.task = need.task, .wanted = need.replicas});
                  }
                },
                [&](const JobFailed& failed) {
                  ++outcome_.failed_jobs;
                  end_job(failed.job);
                },
                [&](const AuditWanted& wanted) {
                  options_.verifier ? verify(wanted) : audits_.push_back(wanted);
                },
                [&](const PollWanted& wanted) { polls_.push_back(wanted); },
                [](const Suspected&) {}, [&](const Convicted& convicted) { slash(convicted); }},
          ruling);
    }
  }

  void accept(const Accepted& accepted) {
    Job& job = jobs_.at(accepted.task.job);
    const auto answers = job.answers.extract(accepted.task.index);
    ++job.accepted;
    ++outcome_.tasks;
    const bool right = accepted.root == right_root(accepted.task);
    if (!right) ++outcome_.wrong_accepted;
    const ledger::TaskPay pay{.task = accepted.task,
                              .client = client_of(accepted.task.job),
                              .price = options_.value * options_.replicas,
                              .replicas = options_.replicas};
    std::vector<OwnerId> agreeing;
    for (const PublicKey& worker : accepted.agreeing) agreeing.push_back(OwnerId::of_first(worker));
    apply(ledger::pay_task(pay, agreeing, ledger_.escrow(accepted.task.job)));
    if (!right) {
      for (const PublicKey& paid : accepted.agreeing) {
        KindResult& result = result_of(numbers_.at(paid));
        ++result.accepted;
        result.gained += ledger::share(pay);
      }
    }
    if (job.accepted == tasks_of_.at(accepted.task.job)) ended_.push_back(accepted.task.job);
  }

  void slash(const Convicted& convicted) {
    const std::uint32_t number = numbers_.at(convicted.worker);
    const MicroCredits held =
        ledger_.balance(ledger::Account::stake(OwnerId::of_first(convicted.worker)));
    const MicroCredits taken = std::min(held, convicted.penalty);
    apply(ledger::slash({.task = convicted.task,
                         .worker = convicted.worker,
                         .owner = OwnerId::of_first(convicted.worker),
                         .client = client_of(convicted.task.job),
                         .penalty = convicted.penalty,
                         .damage = convicted.value,
                         .stake = held}));
    KindResult& result = result_of(number);
    result.slashed += taken;
    if (!std::exchange(workers_[number].convicted, true)) ++result.convicted;
  }

  const Options options_;
  std::mt19937_64 random_;
  Referee referee_;
  ledger::Ledger ledger_;
  std::vector<OwnerId> clients_;
  std::uint32_t wallets_ = 0;
  std::vector<Worker> workers_;
  std::unordered_map<PublicKey, std::uint32_t> numbers_;
  std::map<JobId, Job> jobs_;
  std::map<JobId, Job>::iterator open_job_ = jobs_.end();
  std::map<JobId, std::uint32_t> tasks_of_;
  std::deque<Need> needs_;
  std::deque<AuditWanted> audits_;
  std::deque<PollWanted> polls_;
  std::deque<JobId> ended_;
  Pact pact_;
  std::array<Work, 2> work_{};  // work_[0] is cold work, work_[1] is warm work.
  Outcome outcome_;
  UnixMillis now_ = 1'700'000'000'000;
  std::uint32_t given_ = 0;
  std::uint32_t jobs_started_ = 0;
};

}  // namespace

Options Options::without_levels() const {
  Options past = *this;
  past.verifier = false;
  past.referee.defences = Defences::none();
  return past;
}

double KindResult::per_cheat(MicroCredits value) const {
  return cheats == 0 ? 0
                     : static_cast<double>(gained - slashed) / static_cast<double>(value) /
                           static_cast<double>(cheats);
}

Outcome run(const Options& options) { return Network(options).run(); }

}  // namespace weft::trust::simulation
