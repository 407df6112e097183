#include "apps/bench/attacks/play.h"

#include <algorithm>
#include <utility>

#include "apps/bench/attacks/standing.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/proof/merkle.h"
#include "common/protocol/api.h"
#include "common/protocol/codec.h"

namespace weft::coordinator::bench {
namespace {

namespace attacks = trust::attacks;

constexpr std::size_t handshakes_at_a_time = 256;
constexpr auto handshakes_max = std::chrono::seconds(60);
constexpr auto turn_max = std::chrono::milliseconds(2);
constexpr auto look_every = std::chrono::milliseconds(50);  // At jobs.
constexpr auto beat_every = std::chrono::milliseconds(800);
constexpr auto standings_every = std::chrono::milliseconds(100);
constexpr std::size_t standings_at_a_time = 4;
// A convicted worker's tasks are computed again: so long at most.
constexpr auto corrections_max = std::chrono::seconds(20);
constexpr std::uint32_t budget = 10'000;  // Credits; more than any job costs.
constexpr double failing_seconds = 0.001;

Duration as_duration(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Play::Play(PlayOptions options, Cast cast)
    : options_(std::move(options)),
      cast_(std::move(cast)),
      strategy_(options_.strategy == nullptr ? nullptr : options_.strategy->make(options_.plan)),
      random_(options_.scene.seed * 0x9e3779b97f4a7c15U + 1) {}

Result<Played> Play::run(PlayOptions options, Cast cast) {
  Play play(std::move(options), std::move(cast));
  return play.run();
}

double Play::hours() const {
  // As the scene counts them: its tasks take so much longer than ours.
  return seconds(now() - start_) * options_.scene.task_seconds / options_.task_seconds / 3600;
}

Result<> Play::connect() {
  WEFT_ASSIGN(wire_,
              Wire::create(
                  options_.port,
                  {.answered =
                       [this](Wire::Id id, int status, std::string_view body) {
                         const Answer answer = std::move(asked_.at(id));
                         asked_.erase(id);
                         free_.push_back(id);
                         answer(status, body);
                       },
                   .opened =
                       [this](Wire::Id id) {
                         const Player& its = player(workers_.at(id));
                         protocol::Hello hello;
                         hello.versions = {protocol::version};
                         hello.key = its.key.public_key();
                         hello.software = "bench";
                         hello.slots =
                             1;  // As in the simulation, whose tasks are too long to hold two.

                         hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
                         hello.capabilities.f32_gflop_per_s = 1000 * its.rate;
                         hello.capabilities.vendor = weft::format("vendor {}", its.vendor);
                         wire_->send_text(id, protocol::encode(hello));
                       },
                   .text = [this](Wire::Id id, std::string_view text) { hear(id, text); },
                   .closed =
                       [this](Wire::Id id) {
                         const auto worker = workers_.find(id);
                         if (worker == workers_.end()) {
                           asked_.erase(id);
                           std::erase(free_, id);
                           return;
                         }
                         // An attacker that said nothing for too long comes back; an honest one is
                         // not sent away.
                         if (!player(worker->second).attacker && !worker->second.gone && !broken_)
                           broken_ = Error{ErrorCode::unavailable,
                                           "The coordinator closed an honest worker's connection."};
                         worker->second.gone = true;
                       }}));
  const Instant give_up = now() + handshakes_max;
  const std::size_t wanted = cast_.workers.size();
  while (welcome_ < wanted) {
    while (workers_.size() < wanted && workers_.size() < welcome_ + handshakes_at_a_time)
      WEFT_OK(join(workers_.size()));
    wire_->poll(turn_max);
    if (broken_) return std::unexpected(*broken_);
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded, "Only {} of {} workers are welcome by now.",
                  welcome_, wanted);
  }
  return {};
}

Result<> Play::join(std::size_t number) {
  WEFT_ASSIGN(const Wire::Id id, wire_->connect());
  const Player& its = cast_.workers[number];
  Worker worker;
  worker.player = number;
  worker.reputation = its.reputation;
  worker.established = its.reputation >= 0.5;
  workers_.emplace(id, std::move(worker));
  if (its.attacker) attackers_.push_back(id);
  // The coordinator takes us for a proxy: fresh wallets come from a network each, or from one.
  std::string headers;
  if (its.attacker && options_.plan.wallets > 0) {
    const std::uint32_t network =
        options_.plan.prefixes == 0 ? its.number : its.number % options_.plan.prefixes;
    headers = weft::format("x-forwarded-for: 45.{}.{}.{}\r\n", network / 250, network % 250,
                           1 + its.number % 250);
  }
  wire_->upgrade(id, "/v1/worker", headers);
  return {};
}

// --- HTTP

void Play::ask(const crypto::KeyPair& wallet, std::string_view method, const std::string& path,
               const std::string& body, Answer answer) {
  if (free_.empty()) {
    const auto id = wire_->connect();
    if (!id) {
      broken_ = id.error();
      return;
    }
    free_.push_back(*id);
  }
  const Wire::Id id = free_.back();
  free_.pop_back();
  asked_.emplace(id, std::move(answer));
  wire_->request(id, method, path, signed_headers(wallet, coordinator_, method, path, body), body);
}

void Play::submit_more() {
  const attacks::Scene& scene = options_.scene;
  while (submitted_ < scene.tasks && open_jobs_.size() + submitting_ < scene.jobs_open) {
    const auto& plan = options_.plan;
    if (strategy_ && plan.own_jobs > 0 && attacks::chance(random_) < plan.own_jobs) submit(true);
    submit(false);
  }
}

void Play::submit(bool own) {
  const attacks::Scene& scene = options_.scene;
  const std::uint32_t tasks =
      own ? options_.plan.own_tasks : std::min(scene.job_tasks, scene.tasks - submitted_);
  if (!own) {
    submitted_ += tasks;
    ++submitting_;
  }
  const std::size_t client =
      own ? own_started_++ % cast_.own_clients.size() : honest_started_++ % cast_.clients.size();
  const std::string body = manifest_of({.name = weft::format("play-{}", numbers_++),
                                        .tasks = tasks,
                                        .slices = scene.slices,
                                        .replicas = scene.replicas,
                                        .agreement_alone = options_.agreement_alone,
                                        .budget = budget});
  post({.own = own, .client = client, .body = body});
}

void Play::post(Submission wanted) {
  const crypto::KeyPair& wallet =
      wanted.own ? cast_.own_clients[wanted.client] : cast_.clients[wanted.client];
  const std::string body = wanted.body;
  ask(wallet, "POST", "/v1/jobs", body,
      [this, wanted = std::move(wanted)](int status, std::string_view answer) {
        if (status == 429 || status == 503) return refused_.push_back(wanted);
        submitting_ -= wanted.own ? 0 : 1;
        const auto told = status == 202
                              ? protocol::api::from_json<protocol::api::Submitted>(answer)
                              : fail(ErrorCode::unavailable, "A submission is answered with {}: {}",
                                     status, answer);
        const auto job = told ? JobId::parse(told->id) : std::unexpected(told.error());
        if (!job) {
          broken_ = job.error();
          return;
        }
        jobs_[*job] = {.own = wanted.own, .client = wanted.client};
        played_.jobs.push_back({.id = *job, .own = wanted.own});
        if (!wanted.own) open_jobs_.insert(*job);
      });
}

void Play::look_at_jobs() {
  looked_ = now();
  if (looking_ > 0) return;
  for (const JobId& id : open_jobs_) {
    ++looking_;
    ask(cast_.clients[jobs_.at(id).client], "GET", "/v1/jobs/" + id.text(), "",
        [this, id](int status, std::string_view body) {
          --looking_;
          if (status != 200) return;
          const auto job = protocol::api::from_json<protocol::api::Job>(body);
          if (job && job->state != "running") open_jobs_.erase(id);
        });
  }
}

void Play::look_at_standing(Wire::Id id) {
  const Player& its = player(workers_.at(id));
  ask(its.key, "GET", "/v1/stakes/" + its.key.public_key().text(), "",
      [this, id](int status, std::string_view body) {
        const auto found = workers_.find(id);
        if (status != 200 || found == workers_.end() || found->second.gone) return;
        const auto shown = read_standing(body);
        if (!shown) {
          broken_ = shown.error();
          return;
        }
        found->second.reputation = shown->reputation;
        found->second.established = shown->established;
        if (shown->suspended_until > 0 && options_.plan.returns) replace(id);
      });
}

// A few attackers at a time, in turn.
void Play::look_at_standings() {
  standings_looked_ = now();
  for (std::size_t i = 0; i < std::min(standings_at_a_time, attackers_.size()); ++i) {
    const Wire::Id id = attackers_[next_look_++ % attackers_.size()];
    const Worker& worker = workers_.at(id);
    if (worker.welcome && !worker.gone) look_at_standing(id);
  }
}

// --- Workers

void Play::hear(Wire::Id id, std::string_view text) {
  const auto message = protocol::decode_coordinator_message(text);
  if (!message) {
    broken_ = message.error();
    return;
  }
  Worker& worker = workers_.at(id);
  if (const auto* challenge = std::get_if<protocol::Challenge>(&*message)) {
    worker.challenge = *challenge;
    coordinator_ = challenge->coordinator;
    if (invitation_.empty()) invitation_ = invitation_of(*challenge);
    wire_->send_text(id, proof_text(player(worker).key, *challenge,
                                    player(worker).invited ? invitation_ : std::string()));
  } else if (std::holds_alternative<protocol::Welcome>(*message)) {
    worker.welcome = true;
    ++welcome_;
  } else if (const auto* lease = std::get_if<protocol::Lease>(&*message)) {
    for (const auto& task : lease->tasks)
      worker.queue.push_back(
          {.asked = asked(lease->job, task, options_.scene.slices), .attempt = task.attempt});
    begin(id, worker);
  } else if (const auto* verdict = std::get_if<protocol::Verdict>(&*message)) {
    judged(id, worker, *verdict);
  } else if (const auto* wanted = std::get_if<protocol::OpenChunks>(&*message)) {
    open(id, worker, *wanted);
  } else if (const auto* cancel = std::get_if<protocol::Cancel>(&*message)) {
    for (const auto& held : cancel->tasks) {
      std::erase_if(worker.queue, [&](const Task& each) { return each.asked.task == held.task; });
      // (What runs now runs on; what comes of it is not wanted.)
      if (worker.running && worker.running->asked.task == held.task &&
          worker.deed.kind == attacks::Deed::Kind::silent)
        worker.running.reset();
    }
    begin(id, worker);
  } else if (const auto* error = std::get_if<protocol::ErrorMessage>(&*message)) {
    if (!player(worker).attacker)
      broken_ = Error{ErrorCode::internal, "The coordinator says: " + error->message};
  }
}

void Play::later(Wire::Id worker, double seconds) {
  due_.push({.at = now() + as_duration(seconds), .worker = worker, .serial = ++serial_});
}

void Play::begin(Wire::Id id, Worker& worker) {
  if (worker.gone || worker.running || worker.queue.empty()) return;
  const auto job = jobs_.find(worker.queue.front().asked.task.job);
  // It may hear of a job before its client does.
  if (job == jobs_.end()) return later(id, 0.002);
  worker.running = worker.queue.front();
  worker.queue.pop_front();
  const Player& its = player(worker);
  const Asked& asked = worker.running->asked;
  worker.deed = {};
  const bool part = !asked.whole();
  if (its.attacker && !part)
    worker.deed = strategy_->on_task({.reputation = worker.reputation,
                                      .established = worker.established,
                                      .hours = hours(),
                                      .number = its.number,
                                      .client = static_cast<std::uint32_t>(job->second.client),
                                      .own = job->second.own,
                                      .canary = false,
                                      .price = 1,
                                      .slices = asked.slices},
                                     random_);
  if (worker.deed.kind == attacks::Deed::Kind::silent) return;
  double took = options_.task_seconds / its.rate * (0.9 + 0.2 * attacks::chance(random_)) *
                asked.count / asked.slices;
  if (worker.deed.kind == attacks::Deed::Kind::fails) took = failing_seconds;
  if (worker.deed.wrong > 0 && !worker.deed.one_value)
    took *= 1 - 0.99 * worker.deed.wrong / asked.slices;
  worker.ends = now() + as_duration(took);
  later(id, took);
}

// An honest worker's answer is its device's; an attacker's the one of its deed. Of a part that it
// audits it says what its strategy wants.
ByteVector Play::answer(const Worker& worker, const Task& task, const Job& job) {
  const Player& its = player(worker);
  const bool differs = job.own && options_.plan.devices_differ;
  if (!its.attacker) return right_answer(task.asked, differs ? its.vendor : 0);
  if (task.asked.whole()) return answer_of(task.asked, worker.deed);
  const auto told = told_.find(task.asked.task);
  const bool accomplice = told != told_.end();
  ByteVector truth = right_answer(task.asked);
  ByteVector claimed = accomplice ? answer_of(task.asked, told->second) : truth;
  if (strategy_->confirms(accomplice, claimed == truth)) return claimed;
  if (claimed != truth) return truth;
  return answer_of(task.asked, {.wrong = task.asked.slices});
}

void Play::deliver(Wire::Id id, Worker& worker) {
  if (worker.gone) return;
  if (!worker.running) return begin(id, worker);
  if (worker.deed.kind == attacks::Deed::Kind::silent || now() < worker.ends) return;
  const Task task = *std::exchange(worker.running, std::nullopt);
  const TaskId& name = task.asked.task;
  if (worker.deed.kind == attacks::Deed::Kind::fails) {
    wire_->send_text(id, protocol::encode(protocol::TaskFailed{
                             .task = name,
                             .attempt = task.attempt,
                             .code = std::string(to_string(ErrorCode::invalid_argument)),
                             .message = "The shader is wrong."}));
    return begin(id, worker);
  }
  const Job& job = jobs_.at(name.job);
  const Player& its = player(worker);
  ByteVector bytes = answer(worker, task, job);
  if (its.attacker && task.asked.whole()) {
    told_.emplace(name, worker.deed);
    if (worker.deed.wrong > 0 && !job.own) {
      ++played_.cheats;
      worker.wrong[name] = static_cast<double>(worker.deed.wrong) / task.asked.slices;
    }
  }
  worker.handed[name] = bytes;
  const double took =
      options_.task_seconds / its.rate * worker.deed.claims * task.asked.count / task.asked.slices;
  const protocol::ResultFrame frame =
      result_of(name, task.attempt, std::move(bytes), {.gpu_seconds = took, .wall_seconds = took});
  wire_->send_binary(id, protocol::encode_frame(frame).value());
  wire_->send_text(
      id, protocol::encode(receipt_of(its.key, worker.challenge,
                                      {{.task = name,
                                        .attempt = task.attempt,
                                        .root = frame.result.root,
                                        .first = task.asked.whole() ? 0 : task.asked.first,
                                        .count = task.asked.whole() ? 0 : task.asked.count}})));
  begin(id, worker);
}

void Play::judged(Wire::Id id, Worker& worker, const protocol::Verdict& verdict) {
  worker.handed.erase(verdict.task);
  if (!player(worker).attacker) return;
  if (verdict.accepted) {
    played_.paid += verdict.paid;
    const auto wrong = worker.wrong.find(verdict.task);
    if (wrong == worker.wrong.end()) return;
    played_.wrong.insert(verdict.task);
    played_.gained += static_cast<MicroCredits>(wrong->second * static_cast<double>(verdict.paid));
    return;
  }
  ++worker.refused;
  if (strategy_->leaves(hours(), worker.refused)) return replace(id);
  look_at_standing(id);
}

void Play::open(Wire::Id id, Worker& worker, const protocol::OpenChunks& wanted) {
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
  wire_->send_text(id, protocol::encode(opening));
}

// The attacker gives its wallet up and comes back with another one.
void Play::replace(Wire::Id id) {
  Worker& worker = workers_.at(id);
  if (std::exchange(worker.gone, true)) return;
  wire_->close(id);
  std::erase(attackers_, id);
  ++played_.replaced;
  if (!options_.plan.returns) return;
  auto next = next_wallet(player(worker));
  if (!next) {
    broken_ = next.error();
    return;
  }
  cast_.workers.push_back(std::move(*next));
  if (const auto joined = join(cast_.workers.size() - 1); !joined) broken_ = joined.error();
}

void Play::turn() {
  wire_->poll(turn_max);
  const Instant moment = now();
  while (!due_.empty() && due_.top().at <= moment) {
    const Wire::Id id = due_.top().worker;
    due_.pop();
    if (const auto worker = workers_.find(id); worker != workers_.end())
      deliver(id, worker->second);
  }
  if (moment > looked_ + look_every) {
    look_at_jobs();
    for (Submission& each : std::exchange(refused_, {})) post(std::move(each));
  }
  if (strategy_ && moment > standings_looked_ + standings_every) look_at_standings();
  if (moment < beaten_ + beat_every) return;
  beaten_ = moment;
  for (auto& [id, worker] : workers_) {
    if (worker.welcome && !worker.gone && (worker.running || !worker.queue.empty()))
      wire_->send_text(id, protocol::encode(protocol::Beat{}));
  }
}

Result<Played> Play::run() {
  WEFT_OK(connect());
  start_ = beaten_ = looked_ = standings_looked_ = now();
  const Instant give_up = start_ + as_duration(options_.seconds_max);
  while (!broken_) {
    submit_more();
    if (open_jobs_.empty() && submitting_ == 0 && submitted_ >= options_.scene.tasks) break;
    if (now() > give_up) {
      played_.ended = false;
      break;
    }
    if (options_.stop && options_.stop()) return fail(ErrorCode::cancelled, "Interrupted.");
    turn();
  }
  played_.seconds = seconds(now() - start_);
  // What a conviction makes the verifier compute again.
  bool correcting = played_.cheats > 0;
  bool asking = false;
  const Instant corrected = now() + corrections_max;
  Instant asked_at{};
  while (correcting && !broken_ && now() < corrected) {
    if (!asking && now() > asked_at + std::chrono::milliseconds(500)) {
      asking = true;
      asked_at = now();
      ask(cast_.clients.front(), "GET", "/metrics", "", [&](int status, std::string_view body) {
        asking = false;
        if (status == 200)
          correcting = body.find("\nweft_rechecks_running 0\n") == std::string_view::npos;
      });
    }
    turn();
  }
  while (asking && !broken_ && now() < corrected + std::chrono::seconds(1)) turn();
  if (broken_) return std::unexpected(*broken_);
  played_.workers = std::move(cast_.workers);
  return std::move(played_);
}

}  // namespace weft::coordinator::bench
