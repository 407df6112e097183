#include "decisions/trust/attacks/roster.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/format.h"
#include "decisions/trust/attacks/simulated_answer.h"

namespace weft::trust::attacks {

void Roster::join_honest(double start, bool invited) {
  const Scene& setup = context_.setup;
  const auto number = static_cast<std::uint32_t>(workers_.size());
  SimulatedWorker worker;
  worker.key = id_of<PublicKey>(number);
  worker.rate = 0.8 + 0.4 * chance(context_.random);
  worker.crashes = chance(context_.random) < setup.crashing;
  if (chance(context_.random) < setup.slow) worker.rate /= 10;
  worker.vendor = setup.vendors <= 1 ? 0 : number % setup.vendors;
  if (start > 0) worker.price_of_stake = context_.credits(setup.stake);
  if (invited) context_.referee.standing().admissions().invite(worker.key, Invitation::worker);
  admit(std::move(worker), start);
}

void Roster::join_attacker(std::uint32_t number, double start) {
  const Scene& setup = context_.setup;
  SimulatedWorker worker;
  worker.key = id_of<PublicKey>(static_cast<std::uint32_t>(workers_.size()));
  worker.rate = 0.8 + 0.4 * chance(context_.random);
  worker.attacker = true;
  worker.number = number;
  worker.price_of_stake = context_.credits(context_.plan.stake);
  // An attacker claims the vendor that suits its attack: the vendor of the workers that it wants to
  // have convicted, or a vendor that no other worker has.
  worker.vendor = context_.plan.own_vendor ? 1000 + number
                  : setup.vendors <= 1     ? 0
                                           : 1 + number % (setup.vendors - 1);
  admit(std::move(worker), start);
}

void Roster::admit(SimulatedWorker worker, double start) {
  if (start > 0)
    context_.referee.standing().book().restore(
        worker.key, {.verified = context_.referee.book().verified_at(start),
                     .updated = context_.unix(),
                     .wrong = 0,
                     .suspended_until = 0});
  worker.joined = context_.time();
  context_.referee.standing().admissions().set_vendor(worker.key,
                                                      weft::format("vendor {}", worker.vendor));
  workers_.push_back(std::move(worker));
  connect(static_cast<std::uint32_t>(workers_.size()) - 1);
}

void Roster::connect(std::uint32_t number) {
  SimulatedWorker& worker = workers_[number];
  scheduler::Worker joining{
      .key = worker.key, .slots = 4, .capabilities = {}, .standing = standing(worker)};
  joining.capabilities.memory_bytes = 1 << 30;
  joining.capabilities.f32_gflop_per_s = 1000 * worker.rate;
  check(context_.scheduler.add_worker(joining, context_.now()).has_value(), "a worker joins once");
  worker.connected = true;
  refresh(number);
}

void Roster::disconnect(std::uint32_t number, scheduler::Departure departure) {
  SimulatedWorker& worker = workers_[number];
  if (!worker.connected) return;
  context_.scheduler.remove_worker(worker.key, departure, context_.now());
  lost(number);
  context_.referee.votes().forget_claims(worker.key);
}

void Roster::lost(std::uint32_t number) {
  SimulatedWorker& worker = workers_[number];
  worker.connected = false;
  worker.busy = false;
  ++worker.serial;
  worker.queue.clear();
}

scheduler::Standing Roster::standing(const SimulatedWorker& worker) const {
  switch (context_.referee.level(worker.key, context_.unix())) {
    case Level::newcomer:
      return scheduler::Standing::newcomer;
    case Level::established:
      return scheduler::Standing::established;
    case Level::invited:
    case Level::root:
      break;
  }
  return scheduler::Standing::invited;
}

void Roster::refresh(std::uint32_t number) {
  SimulatedWorker& worker = workers_[number];
  if (!worker.connected) return;
  if (context_.referee.book().suspended(worker.key, context_.unix())) {
    context_.scheduler.set_standing(worker.key, scheduler::Standing::newcomer);
    return context_.scheduler.set_slots(worker.key, 0);
  }
  const scheduler::Standing its = standing(worker);
  context_.scheduler.set_standing(worker.key, its);
  if (its != scheduler::Standing::newcomer && !std::exchange(worker.audits, true))
    auditors_.push_back(number);
  const std::size_t most = context_.referee.standing().leases_max(worker.key, context_.unix());
  const std::size_t waiting = worker.undecided.size();
  context_.scheduler.set_leases_max(
      worker.key, static_cast<std::uint32_t>(most > waiting ? most - waiting : 0),
      context_.referee.standing().sample_share(worker.key, context_.unix()));
}

void Roster::leave(std::uint32_t number) {
  SimulatedWorker& worker = workers_[number];
  worker.price_of_stake = std::min(
      worker.price_of_stake, static_cast<double>(context_.referee.stakes().locked(worker.key)));
  replace(number);
}

void Roster::replace(std::uint32_t number) {
  disconnect(number, scheduler::Departure::left);
  if (context_.plan.returns) join_attacker(workers_[number].number, 0);
}

void Roster::await(const TaskId& task, std::uint32_t number) {
  if (context_.referee.level(workers_[number].key, context_.unix()) != Level::newcomer) return;
  workers_[number].undecided.insert(task);
  refresh(number);
}

void Roster::decided(const TaskId& task, std::uint32_t number) {
  context_.scheduler.checks().decided(task, workers_[number].key);
  if (workers_[number].undecided.erase(task) > 0 ||
      context_.referee.level(workers_[number].key, context_.unix()) != Level::newcomer)
    refresh(number);
}

}  // namespace weft::trust::attacks
