// What the network thinks of its workers: convictions and what they cost, and standings that outlive the process.
#include <algorithm>
#include <bit>
#include <cstring>

#include "apps/coordinator/core_state.h"
#include "common/base/log.h"

namespace weft::coordinator {
namespace {

constexpr std::string_view standing_prefix = "standing:";

ByteVector pack(const trust::Record& record) {
  ByteVector bytes;
  append_le(bytes, std::bit_cast<std::uint64_t>(record.verified));
  append_le(bytes, static_cast<std::uint64_t>(record.updated));
  append_le(bytes, static_cast<std::uint64_t>(record.suspended_until));
  append_le(bytes, record.wrong);
  return bytes;
}

std::optional<trust::Record> unpack(ByteSpan bytes) {
  if (bytes.size() != 28) return {};
  const auto word = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
    return value;
  };
  return trust::Record{.verified = std::bit_cast<double>(word(0, 8)),
                       .updated = static_cast<UnixMillis>(word(8, 8)),
                       .wrong = static_cast<std::uint32_t>(word(24, 4)),
                       .suspended_until = static_cast<UnixMillis>(word(16, 8))};
}

}  // namespace

void Core::State::restore_standings(std::span<const store::Setting> rows) {
  for (const auto& row : rows) {
    if (!row.name.starts_with(standing_prefix)) continue;
    const auto key = PublicKey::parse(row.name.substr(standing_prefix.size()));
    const auto record = unpack(row.value);
    if (!key || !record) {
      log_warning("The stored setting {} is not a standing.", row.name);
      continue;
    }
    trust.restore_record(*key, *record);
    if (record->suspended_until > 0) parts.book.bar(*key, record->suspended_until);
  }
}

void Core::State::store_standings() {
  for (const PublicKey& worker : trust.take_moved()) {
    batch.settings.push_back({.name = std::string(standing_prefix) + worker.text(), .value = pack(trust.book().record(worker))});
  }
}

// Some wallet could work alone: only then are replicas of a new job left to be decided.
bool Core::State::somebody_works_alone(Moment now) const {
  return std::ranges::any_of(staked, [&](const PublicKey& worker) { return trust.established(worker, now.unix); });
}

void Core::State::convict(const trust::Convicted& convicted, Moment now) {
  ++counters.convictions;
  const auto job = jobs.find(convicted.task.job);
  const MicroCredits held = ledger.balance(ledger::Account::stake(convicted.worker));
  // A job that has ended has no client to be compensated any more; then all of it is the platform's.
  const ledger::Slash slash{.task = convicted.task,
                            .worker = convicted.worker,
                            .client = job == jobs.end() ? PublicKey{} : job->second.row.client,
                            .penalty = convicted.penalty,
                            .damage = job == jobs.end() ? 0 : convicted.value,
                            .stake = held};
  log_warning("{} is convicted over {}: {} {} micro-credits of its stake are slashed.", convicted.worker.text(), convicted.task.text(),
              convicted.reason, std::min(held, convicted.penalty));
  auto transaction = ledger::slash(slash);
  if (job == jobs.end()) transaction.job.reset();
  if (const auto moved = move_money(std::move(transaction), now); !moved) log_error("The stake cannot be slashed: {}", moved.error().message);
  scheduler.set_slots(convicted.worker, 0);  // Suspended; it is told by its verdict.
  for (auto& jury : juries)
    std::erase_if(jury.members, [&](const auto& member) { return member.worker == convicted.worker && jury.task == convicted.task; });
}

// Whoever helped to decide a dispute is paid like a replica, as far as what was slashed reaches.
void Core::State::pay_juries(Moment now) {
  for (const auto& jury : std::exchange(juries, {})) {
    for (const auto& member : jury.members) {
      verdict(jury.task, member.attempt, member.worker, pay_from_platform(jury.task, member.worker, member.pay, "jury", now), {});
    }
  }
}

MicroCredits Core::State::pay_from_platform(const TaskId& task, const PublicKey& worker, MicroCredits amount, std::string_view what, Moment now) {
  const MicroCredits paid = std::min(amount, ledger.balance(ledger::Account::platform()));
  if (paid <= 0) return 0;
  ledger::Transaction transaction{.key = std::format("{}:{}:{}", what, task.text(), worker.text()),
                                  .job = {},
                                  .entries = {{ledger::Account::platform(), -paid}, {ledger::Account::worker(worker), paid}},
                                  .what = std::format("pays a worker for checking task {}", task.index)};
  if (jobs.contains(task.job)) transaction.job = task.job;
  const auto moved = move_money(std::move(transaction), now);
  return moved && *moved == ledger::Applied::now ? paid : 0;
}

}  // namespace weft::coordinator
