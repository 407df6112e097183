#include "decisions/trust/simulation/levels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <unordered_set>
#include <utility>

#include "decisions/trust/simulation/behaviour.h"
#include "decisions/trust/simulation/network.h"

namespace weft::trust::simulation {
namespace {

constexpr UnixMillis now = 1'700'000'000'000;
constexpr MicroCredits value = 1'000'000;
constexpr MicroCredits plenty = value * 1'000'000;

PublicKey key_of(std::uint32_t number) {
  PublicKey key;
  std::memcpy(key.bytes.data(), &number, sizeof number);
  key.bytes[31] = 1;
  return key;
}

// Lets a worker give one wrong answer after another. After each answer, every worker's record is
// restored.
class Trials {
 public:
  Trials(const LevelOptions& options, double reputation, const RefereeSettings& settings)
      : options_(options), random_(options.seed), settings_(settings), reputation_(reputation) {
    Secret secret;
    std::memcpy(secret.bytes.data(), &options.seed, sizeof options.seed);
    referee_.emplace(settings, secret);
    // With one task more than is ever run, the job never ends. hold_max is 0, so that no result is
    // held and a right one is accepted at once.
    referee_->add_job(job_, {.replicas = 2, .audit = 0, .parts = answer_parts, .agree = {}},
                      options.trials + 1);
    for (std::uint32_t other = 1; other <= options.others; ++other) put_back(other);
  }

  void run(Level& level) {
    double sum = 0;
    double squares = 0;
    std::uint32_t found = 0;
    for (std::uint32_t trial = 0; trial < options_.trials; ++trial) {
      const double net = one({.job = job_, .index = trial});
      sum += net;
      squares += net * net;
      found += convicted_ ? 1 : 0;
    }
    const double count = options_.trials;
    level.measured = sum / count;
    level.measured_detection = found / count;
    level.error =
        std::sqrt(std::max(squares / count - level.measured * level.measured, 0.0) / count);
  }

 private:
  bool colludes(std::uint32_t other) const {
    return other <= std::lround(settings_.checks.collusion * options_.others);
  }
  void put_back(std::uint32_t number) {
    const double verified = number == 0 ? referee_->book().verified_at(reputation_) : 1000;
    referee_->standing().book().restore(
        key_of(number), {.verified = verified, .updated = now, .wrong = 0, .suspended_until = 0});
  }

  double one(const TaskId& task) {
    put_back(0);
    convicted_ = false;
    net_ = 0;
    wanted_ = 0;
    voters_ = {0};
    audit_.reset();
    Answer wrong{
        .root = right_root(task),
        .wrong = static_cast<std::uint32_t>((std::uint64_t{1} << options_.parts_wrong) - 1)};
    wrong.root.bytes[31] = 1;

    referee_->traps().add(
        {.task = {.job = {}, .index = task.index}, .root = right_root(task), .value = value}, {});
    act(referee_->leased(task, key_of(0), value, plenty, now));
    if (const auto trap = referee_->trap_for(task, key_of(0), now)) {
      // This lease is a trap, and the worker's answer to it is wrong.
      act(referee_->trap_answered(*trap, key_of(0), false, now));
      referee_->lost(task, key_of(0));
      return net_;
    }
    vote(task, 0, wrong.root);
    while (!referee_->votes().is_accepted(task)) {
      const auto other = 1 + static_cast<std::uint32_t>(random_() % options_.others);
      if (audit_) {
        const AuditWanted wanted = *std::exchange(audit_, std::nullopt);
        const bool hit = ((wrong.wrong >> wanted.part) & 1) != 0;
        act(referee_->audited(
            task, key_of(other),
            hit && !colludes(other) ? AuditOutcome::differs : AuditOutcome::agrees, now));
      } else if (voters_.size() < wanted_) {
        if (voters_.insert(other).second)
          vote(task, other, colludes(other) ? wrong.root : right_root(task));
      } else {
        break;  // No further check or replica is wanted.
      }
    }
    return net_;
  }

  void vote(const TaskId& task, std::uint32_t number, const Hash& root) {
    act(referee_->add_result({.task = task, .worker = key_of(number), .attempt = 1, .root = root},
                             now));
    const std::vector<Claim> claims{{.task = task, .attempt = 1, .root = root}};
    act(referee_->add_receipt(key_of(number), claims, now));
  }

  void act(const std::vector<Ruling>& rulings) {
    const double gain = static_cast<double>(options_.parts_wrong) / answer_parts;
    for (const Ruling& ruling : rulings) {
      if (const auto* accepted = std::get_if<Accepted>(&ruling)) {
        if (accepted->root != right_root(accepted->task)) net_ += gain;
      } else if (const auto* convicted = std::get_if<Convicted>(&ruling)) {
        if (convicted->worker == key_of(0)) {
          convicted_ = true;
          net_ -= static_cast<double>(convicted->penalty) / static_cast<double>(value);
        } else {
          std::uint32_t number = 0;
          std::memcpy(&number, convicted->worker.bytes.data(), sizeof number);
          put_back(number);
        }
      } else if (const auto* need = std::get_if<NeedReplicas>(&ruling)) {
        wanted_ = need->replicas;
      } else if (const auto* audit = std::get_if<AuditWanted>(&ruling)) {
        audit_ = *audit;
      }
    }
  }

  const LevelOptions& options_;
  std::mt19937_64 random_;
  const RefereeSettings settings_;
  const double reputation_;
  std::optional<Referee> referee_;
  const JobId job_ = [] {
    JobId id;
    id.bytes[0] = 1;
    return id;
  }();
  bool convicted_ = false;
  double net_ = 0;
  std::uint32_t wanted_ = 0;
  std::unordered_set<std::uint32_t> voters_;
  std::optional<AuditWanted> audit_;
};

}  // namespace

std::vector<Level> measure_levels(const LevelOptions& options) {
  RefereeSettings settings = Options{}.without_levels().referee;
  settings.hold_max = 0;
  const ReputationBook book(settings.reputation);
  const double share = static_cast<double>(options.parts_wrong) / answer_parts;
  std::vector<Level> levels;
  for (const double reputation : options.reputations) {
    Level level;
    level.reputation = reputation;
    level.alone = book.verified_at(reputation) >= settings.reputation.probation;
    level.rates = rates_at(reputation, answer_parts, 0, settings.checks);
    level.stake = stake_per_value(level.rates, settings.checks.collusion);
    if (level.alone) {
      level.detection = detection(level.rates, share, settings.checks.collusion);
      level.expected = expected_value(level.rates, share, level.stake, settings.checks.collusion);
    } else {
      // Every result of this worker needs a second one that agrees, so that a wrong result passes
      // only if the second worker is an accomplice.
      level.detection = 1 - settings.checks.collusion;
      level.expected = share * (1 - level.detection) - level.stake * level.detection;
    }
    Trials(options, reputation, settings).run(level);
    levels.push_back(level);
  }
  return levels;
}

}  // namespace weft::trust::simulation
