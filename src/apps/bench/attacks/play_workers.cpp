#include "apps/bench/attacks/play_workers.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/proof/merkle.h"
#include "common/protocol/codec.h"

namespace weft::coordinator::bench {
namespace {

namespace attacks = trust::attacks;

constexpr double failing_seconds = 0.001;

}  // namespace

Result<> PlayWorkers::join(std::size_t number) {
  WEFT_ASSIGN(const Wire::Id id, context_.wire->connect());
  const Player& its = context_.cast.workers[number];
  Worker worker;
  worker.player = number;
  worker.reputation = its.reputation;
  worker.established = its.reputation >= 0.5;
  workers_.emplace(id, std::move(worker));
  if (its.attacker) attackers_.push_back(id);
  // The coordinator trusts this process as a proxy, so the header can place fresh wallets in one
  // network each, or in a few.
  std::string headers;
  if (its.attacker && context_.options.plan.wallets > 0) {
    const std::uint32_t network = context_.options.plan.prefixes == 0
                                      ? its.number
                                      : its.number % context_.options.plan.prefixes;
    headers = weft::format("x-forwarded-for: 45.{}.{}.{}\r\n", network / 250, network % 250,
                           1 + its.number % 250);
  }
  context_.wire->upgrade(id, "/v1/worker", headers);
  return {};
}

void PlayWorkers::opened(Wire::Id id) {
  const Player& its = player(id);
  protocol::Hello hello;
  hello.versions = {protocol::version};
  hello.key = its.key.public_key();
  hello.software = "bench";
  hello.slots = 1;  // A worker holds one task, as in the simulator.
  hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
  hello.capabilities.f32_gflop_per_s = 1000 * its.rate;
  hello.capabilities.vendor = weft::format("vendor {}", its.vendor);
  context_.wire->send_text(id, protocol::encode(hello));
}

void PlayWorkers::closed(Wire::Id id) {
  Worker& worker = workers_.at(id);
  // An attacker may be disconnected, for example because it was silent for too long; an honest
  // worker must not be.
  if (!player(worker).attacker && !worker.gone && !context_.broken)
    context_.broken =
        Error{ErrorCode::unavailable, "The coordinator closed an honest worker's connection."};
  worker.gone = true;
}

bool PlayWorkers::is_here(Wire::Id id) const {
  const auto found = workers_.find(id);
  return found != workers_.end() && found->second.welcome && !found->second.gone;
}

void PlayWorkers::set_standing(Wire::Id id, const ShownStanding& shown) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || found->second.gone) return;
  found->second.reputation = shown.reputation;
  found->second.established = shown.established;
  if (shown.suspended_until > 0 && context_.options.plan.returns) replace(id);
}

void PlayWorkers::hear(Wire::Id id, std::string_view text) {
  const auto message = protocol::decode_coordinator_message(text);
  if (!message) {
    context_.broken = message.error();
    return;
  }
  Worker& worker = workers_.at(id);
  if (const auto* challenge = std::get_if<protocol::Challenge>(&*message)) {
    challenged(id, worker, *challenge);
  } else if (std::holds_alternative<protocol::Welcome>(*message)) {
    worker.welcome = true;
    ++welcome_;
  } else if (const auto* lease = std::get_if<protocol::Lease>(&*message)) {
    for (const auto& task : lease->tasks)
      worker.queue.push_back({.asked = asked(lease->job, task, context_.options.scene.slices),
                              .attempt = task.attempt});
    begin(id, worker);
  } else if (const auto* verdict = std::get_if<protocol::Verdict>(&*message)) {
    judged(id, worker, *verdict);
  } else if (const auto* wanted = std::get_if<protocol::OpenChunks>(&*message)) {
    open(id, worker, *wanted);
  } else if (const auto* cancel = std::get_if<protocol::Cancel>(&*message)) {
    cancelled(worker, *cancel);
    begin(id, worker);
  } else if (const auto* error = std::get_if<protocol::ErrorMessage>(&*message)) {
    if (!player(worker).attacker)
      context_.broken =
          Error{ErrorCode::internal, "The coordinator sends an error message: " + error->message};
  }
}

void PlayWorkers::challenged(Wire::Id id, Worker& worker, const protocol::Challenge& challenge) {
  worker.challenge = challenge;
  context_.coordinator = challenge.coordinator;
  if (invitation_.empty()) invitation_ = invitation_of(challenge);
  context_.wire->send_text(id, proof_text(player(worker).key, challenge,
                                          player(worker).invited ? invitation_ : std::string()));
}

void PlayWorkers::cancelled(Worker& worker, const protocol::Cancel& cancel) {
  for (const auto& held : cancel.tasks) {
    std::erase_if(worker.queue, [&](const Task& each) { return each.asked.task == held.task; });
    // A running task is finished although its result is not wanted, unless the deed is to stay
    // silent.
    if (worker.running && worker.running->asked.task == held.task &&
        worker.deed.kind == attacks::Deed::Kind::silent)
      worker.running.reset();
  }
}

void PlayWorkers::later(Wire::Id worker, double seconds) {
  due_.push({.at = now() + as_duration(seconds), .worker = worker, .serial = ++serial_});
}

void PlayWorkers::begin(Wire::Id id, Worker& worker) {
  if (worker.gone || worker.running || worker.queue.empty()) return;
  const PlayJobs::Job* const job = jobs_.find(worker.queue.front().asked.task.job);
  // The worker may get a lease before the client has the reply with the job's id.
  if (job == nullptr) return later(id, 0.002);
  worker.running = worker.queue.front();
  worker.queue.pop_front();
  const Player& its = player(worker);
  const Asked& asked = worker.running->asked;
  worker.deed = {};
  const bool part = !asked.whole();
  if (its.attacker && !part)
    worker.deed = context_.strategy->on_task({.reputation = worker.reputation,
                                              .established = worker.established,
                                              .hours = context_.hours(),
                                              .number = its.number,
                                              .client = static_cast<std::uint32_t>(job->client),
                                              .own = job->own,
                                              .canary = false,
                                              .price = 1,
                                              .slices = asked.slices},
                                             context_.random);
  if (worker.deed.kind == attacks::Deed::Kind::silent) return;
  double took = context_.options.task_seconds / its.rate *
                (0.9 + 0.2 * attacks::chance(context_.random)) * asked.count / asked.slices;
  if (worker.deed.kind == attacks::Deed::Kind::fails) took = failing_seconds;
  if (worker.deed.wrong > 0 && !worker.deed.one_value)
    took *= 1 - 0.99 * worker.deed.wrong / asked.slices;
  worker.ends = now() + as_duration(took);
  later(id, took);
}

void PlayWorkers::deliver(Wire::Id id, Worker& worker) {
  if (worker.gone) return;
  if (!worker.running) return begin(id, worker);
  if (worker.deed.kind == attacks::Deed::Kind::silent || now() < worker.ends) return;
  const Task task = *std::exchange(worker.running, std::nullopt);
  const TaskId& name = task.asked.task;
  if (worker.deed.kind == attacks::Deed::Kind::fails) {
    context_.wire->send_text(id, protocol::encode(protocol::TaskFailed{
                                     .task = name,
                                     .attempt = task.attempt,
                                     .code = std::string(to_string(ErrorCode::invalid_argument)),
                                     .message = "The shader is wrong."}));
    return begin(id, worker);
  }
  const bool own = jobs_.find(name.job)->own;
  const Player& its = player(worker);
  ByteVector bytes = answers_.answer(its, task.asked, worker.deed, own);
  if (its.attacker && task.asked.whole()) {
    answers_.told(name, worker.deed);
    if (worker.deed.wrong > 0 && !own) {
      ++context_.played.cheats;
      worker.wrong[name] = static_cast<double>(worker.deed.wrong) / task.asked.slices;
    }
  }
  worker.handed[name] = bytes;
  const double took = context_.options.task_seconds / its.rate * worker.deed.claims *
                      task.asked.count / task.asked.slices;
  const protocol::ResultFrame frame =
      result_of(name, task.attempt, std::move(bytes), {.gpu_seconds = took, .wall_seconds = took});
  context_.wire->send_binary(id, protocol::encode_frame(frame).value());
  context_.wire->send_text(
      id, protocol::encode(receipt_of(its.key, worker.challenge,
                                      {{.task = name,
                                        .attempt = task.attempt,
                                        .root = frame.result.root,
                                        .first = task.asked.whole() ? 0 : task.asked.first,
                                        .count = task.asked.whole() ? 0 : task.asked.count}})));
  begin(id, worker);
}

void PlayWorkers::judged(Wire::Id id, Worker& worker, const protocol::Verdict& verdict) {
  worker.handed.erase(verdict.task);
  if (!player(worker).attacker) return;
  if (verdict.accepted) {
    context_.played.paid += verdict.paid;
    const auto wrong = worker.wrong.find(verdict.task);
    if (wrong == worker.wrong.end()) return;
    context_.played.wrong.insert(verdict.task);
    context_.played.gained +=
        static_cast<MicroCredits>(wrong->second * static_cast<double>(verdict.paid));
    return;
  }
  ++worker.refused;
  if (context_.strategy->leaves(context_.hours(), worker.refused)) return replace(id);
  look_(id);
}

void PlayWorkers::open(Wire::Id id, Worker& worker, const protocol::OpenChunks& wanted) {
  protocol::Opening opening{
      .task = wanted.task, .attempt = wanted.attempt, .roots = {}, .paths = {}};
  if (const auto bytes = worker.handed.find(wanted.task); bytes != worker.handed.end()) {
    opening.roots.push_back(proof::output_root(bytes->second));
    for (const auto& [output, chunk] : wanted.chunks) {
      const auto path = proof::inclusion_path(bytes->second, chunk);
      if (!path) continue;
      opening.paths.push_back(
          {.output = output, .chunk = chunk, .chunks = path->chunks, .siblings = path->siblings});
    }
  }
  context_.wire->send_text(id, protocol::encode(opening));
}

// Makes the attacker abandon its wallet and, if its plan says so, come back with another one.
void PlayWorkers::replace(Wire::Id id) {
  Worker& worker = workers_.at(id);
  if (std::exchange(worker.gone, true)) return;
  context_.wire->close(id);
  std::erase(attackers_, id);
  ++context_.played.replaced;
  if (!context_.options.plan.returns) return;
  auto next = next_wallet(player(worker));
  if (!next) {
    context_.broken = next.error();
    return;
  }
  context_.cast.workers.push_back(std::move(*next));
  if (const auto joined = join(context_.cast.workers.size() - 1); !joined)
    context_.broken = joined.error();
}

void PlayWorkers::deliver_due(Instant moment) {
  while (!due_.empty() && due_.top().at <= moment) {
    const Wire::Id id = due_.top().worker;
    due_.pop();
    if (const auto worker = workers_.find(id); worker != workers_.end())
      deliver(id, worker->second);
  }
}

void PlayWorkers::beat() {
  for (auto& [id, worker] : workers_) {
    if (worker.welcome && !worker.gone && (worker.running || !worker.queue.empty()))
      context_.wire->send_text(id, protocol::encode(protocol::Beat{}));
  }
}

}  // namespace weft::coordinator::bench
