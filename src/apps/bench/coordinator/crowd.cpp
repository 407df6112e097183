#include "apps/bench/coordinator/crowd.h"

#include <utility>

#include "apps/bench/coordinator/talk.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/proof/receipt.h"
#include "common/protocol/api.h"
#include "common/protocol/codec.h"

namespace weft::coordinator::bench {

namespace {

constexpr std::size_t handshakes_at_a_time = 256;
constexpr auto handshakes_max = std::chrono::seconds(120);

}  // namespace

Crowd::Crowd(Options options) : options_(options), wallet_(crypto::KeyPair::generate().value()) {}

Result<std::unique_ptr<Crowd>> Crowd::gather(Options options) {
  std::unique_ptr<Crowd> crowd(new Crowd(options));
  WEFT_OK(crowd->connect());
  return crowd;
}

Result<> Crowd::connect() {
  WEFT_ASSIGN(
      wire_,
      Wire::create(options_.port,
                   {.answered = [this](Wire::Id id, int status,
                                       std::string_view body) { answered(id, status, body); },
                    .opened =
                        [this](Wire::Id id) {
                          protocol::Hello hello;
                          hello.versions = {protocol::version};
                          hello.key = workers_.at(id).key.public_key();
                          hello.software = "bench";
                          hello.slots = options_.slots;
                          hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
                          wire_->send_text(id, protocol::encode(hello));
                        },
                    .text = [this](Wire::Id id, std::string_view text) { hear(id, text); },
                    .closed =
                        [this](Wire::Id) {
                          if (!broken_)
                            broken_ = Error{
                                ErrorCode::unavailable,
                                "The coordinator closed the connection of a worker or a client."};
                        }}));
  const Instant give_up = now() + handshakes_max;
  while (welcome_ < options_.workers) {
    while (workers_.size() < options_.workers &&
           workers_.size() < welcome_ + handshakes_at_a_time) {
      WEFT_ASSIGN(crypto::KeyPair key, crypto::KeyPair::generate());
      WEFT_ASSIGN(const Wire::Id id, wire_->connect());
      workers_.emplace(id, Worker{.key = std::move(key), .unsigned_items = {}});
      wire_->upgrade(id, "/v1/worker");
    }
    turn(std::chrono::milliseconds(10));
    if (broken_) return std::unexpected(*broken_);
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded,
                  "Only {} of {} workers have joined the coordinator in time.", welcome_,
                  options_.workers);
  }
  // Clients connect after the workers, because the server would close a connection without requests
  // before thousands of workers have joined.
  for (std::size_t i = 0; i < options_.clients; ++i) {
    WEFT_ASSIGN(const Wire::Id id, wire_->connect());
    client_of_[id] = i;
    clients_.push_back({.connection = id});
    free_clients_.push_back(i);
  }
  return options_.sign && !clients_.empty() ? redeem_invitation() : Result<>();
}

Result<> Crowd::redeem_invitation() {
  const std::string body = weft::format(R"({{"invitation":"{}"}})", invitation_);
  constexpr std::string_view path = "/v1/owner/grant";
  wire_->request(clients_.front().connection, "POST", path, post_headers(path, body), body);
  const Instant give_up = now() + handshakes_max;
  while (!redeemed_ && !broken_ && now() < give_up) turn(std::chrono::milliseconds(10));
  if (broken_) return std::unexpected(*broken_);
  return redeemed_.value_or(fail(ErrorCode::deadline_exceeded,
                                 "The coordinator does not grant credits to the clients in time."));
}

std::string Crowd::post_headers(std::string_view path, std::string_view body) const {
  return signed_headers(wallet_, coordinator_, "POST", path, body, signing());
}

void Crowd::prepare(std::size_t jobs) {
  while (prepared_.size() < jobs) {
    Prepared job;
    job.body = manifest_of({.name = weft::format("bench-{}", next_job_++),
                            .tasks = options_.tasks,
                            .slices = options_.slices,
                            .replicas = options_.replicas,
                            .budget = options_.budget});
    job.headers = post_headers("/v1/jobs", job.body);
    prepared_.push_back(std::move(job));
  }
}

void Crowd::submit(std::size_t client, Instant due) {
  if (prepared_.empty()) prepare(1);
  const Prepared job = std::move(prepared_.front());
  prepared_.pop_front();
  clients_[client].busy = true;
  clients_[client].submitted = due;
  wire_->request(clients_[client].connection, "POST", "/v1/jobs", job.headers, job.body);
}

void Crowd::answered(Wire::Id id, int status, std::string_view body) {
  if (options_.sign && !redeemed_) {
    redeemed_ = status == 200 ? Result<>() : fail(ErrorCode::permission_denied, "{}", body);
    return;
  }
  const std::size_t client = client_of_.at(id);
  const auto submitted =
      status == 202
          ? protocol::api::from_json<protocol::api::Submitted>(body)
          : fail(ErrorCode::unavailable, "The coordinator answered a submission with status {}: {}",
                 status, body);
  const auto job = submitted ? JobId::parse(submitted->id) : std::unexpected(submitted.error());
  if (!job) {
    broken_ = job.error();
    return;
  }
  Flight& flight = flights_[*job];
  flight.client = client;
  // A worker may have got the job's lease before the client got its reply.
  if (flight.leased)
    tally_.lease_seconds.push_back(seconds(*flight.leased - clients_[client].submitted));
  settle(*job, flight);
}

void Crowd::settle(const JobId& job, Flight& flight) {
  if (!flight.client || flight.verdicts < options_.tasks * options_.replicas) return;
  const std::size_t client = *flight.client;
  flights_.erase(job);
  clients_[client].busy = false;
  if (closed_loop_) return submit(client, now());
  free_clients_.push_back(client);
}

void Crowd::hear(Wire::Id id, std::string_view text) {
  const auto message = protocol::decode_coordinator_message(text);
  if (!message) {
    broken_ = message.error();
    return;
  }
  Worker& worker = workers_.at(id);
  if (const auto* asked = std::get_if<protocol::Challenge>(&*message)) {
    worker.challenge = *asked;
    coordinator_ = asked->coordinator;
    // The workers present the operator's own invitation.
    if (invitation_.empty()) invitation_ = invitation_of(*asked);
    wire_->send_text(
        id, proof_text(worker.key, *asked, options_.strangers ? std::string() : invitation_));
  } else if (std::holds_alternative<protocol::Welcome>(*message)) {
    worker.welcome = true;
    ++welcome_;
  } else if (const auto* lease = std::get_if<protocol::Lease>(&*message)) {
    work(worker, id, *lease);
  } else if (const auto* verdict = std::get_if<protocol::Verdict>(&*message)) {
    if (!verdict->accepted) {
      broken_ = Error{ErrorCode::data_loss, "The coordinator refuses a result: " + verdict->reason};
      return;
    }
    Flight& flight = flights_[verdict->task.job];
    if (++flight.verdicts % options_.replicas == 0) ++tally_.tasks_done;
    settle(verdict->task.job, flight);
  } else if (const auto* cancel = std::get_if<protocol::Cancel>(&*message)) {
    // A stranger's task may be cancelled because the stranger is late: it computes samples of other
    // results first, and another worker has got the task.
    if (!options_.strangers)
      broken_ = Error{ErrorCode::cancelled, "The coordinator cancels a lease: " + cancel->reason};
  } else if (const auto* error = std::get_if<protocol::ErrorMessage>(&*message)) {
    broken_ =
        Error{ErrorCode::internal, "The coordinator sends an error message: " + error->message};
  }
}

void Crowd::work(Worker& worker, Wire::Id id, const protocol::Lease& lease) {
  leased_ += std::exchange(worker.leased, true) ? 0 : 1;
  Flight& flight = flights_[lease.job];
  if (!flight.leased) {
    flight.leased = now();
    if (flight.client)
      tally_.lease_seconds.push_back(seconds(*flight.leased - clients_[*flight.client].submitted));
  }
  for (const auto& task : lease.tasks) {
    const TaskId name{.job = lease.job, .index = task.index};
    ByteVector bytes;
    if (options_.strangers) {
      bytes = counted(task.first, task.count);
    } else {
      const Hash bytes_of = crypto::sha256(as_bytes(name.text()));
      bytes.assign(bytes_of.bytes.begin(), bytes_of.bytes.begin() + 16);
    }
    const protocol::ResultFrame frame = result_of(name, task.attempt, std::move(bytes));
    if (worker.unsigned_items.size() == proof::receipt_claims_max) sign(worker, id);
    if (worker.unsigned_items.empty()) signing_.push_back(id);
    worker.unsigned_items.push_back(
        {.task = name, .attempt = task.attempt, .root = frame.result.root});
    wire_->send_binary(id, protocol::encode_frame(frame).value());
  }
}

void Crowd::sign(Worker& worker, Wire::Id id) {
  wire_->send_text(
      id, protocol::encode(receipt_of(worker.key, worker.challenge,
                                      std::exchange(worker.unsigned_items, {}), signing())));
}

void Crowd::turn(Duration patience) {
  wire_->poll(patience);
  for (const Wire::Id id : std::exchange(signing_, {})) sign(workers_.at(id), id);
}

Result<Crowd::Tally> Crowd::run_closed(Duration duration) {
  tally_ = {};
  const Instant start = now();
  closed_loop_ = true;
  for (const std::size_t client : std::exchange(free_clients_, {})) submit(client, start);
  while (now() < start + duration && !broken_) turn(std::chrono::milliseconds(10));
  tally_.seconds = seconds(now() - start);
  Tally measured = tally_;
  closed_loop_ = false;
  while (free_clients_.size() < clients_.size() && !broken_ &&
         now() < start + duration + std::chrono::seconds(30))
    turn(std::chrono::milliseconds(10));
  if (broken_) return std::unexpected(*broken_);
  if (!flights_.empty())
    return fail(ErrorCode::deadline_exceeded,
                "{} jobs are not done 30 s after the end of the measurement.", flights_.size());
  return measured;
}

Result<Crowd::Tally> Crowd::run_open(Duration duration, double jobs_per_second) {
  tally_ = {};
  const Instant start = now();
  const Duration step =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / jobs_per_second));
  Instant due = start;
  while (!broken_) {
    const Instant moment = now();
    if (moment >= start + duration) break;
    for (; due <= moment && !free_clients_.empty(); due += step) {
      if (moment - due > step) ++tally_.late;
      submit(free_clients_.front(), due);
      free_clients_.pop_front();
    }
    turn(std::clamp<Duration>(due - now(), {}, std::chrono::milliseconds(10)));
  }
  tally_.seconds = seconds(now() - start);
  while (free_clients_.size() < clients_.size() && !broken_ &&
         now() < start + duration + std::chrono::seconds(30))
    turn(std::chrono::milliseconds(10));
  if (broken_) return std::unexpected(*broken_);
  if (!flights_.empty())
    return fail(ErrorCode::deadline_exceeded,
                "{} jobs are not done 30 s after the end of the measurement.", flights_.size());
  return tally_;
}

Result<> Crowd::until_all_have_work(Duration patience) {
  const Instant give_up = now() + patience;
  while (leased_ < options_.workers && !broken_) {
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded,
                  "Only {} of {} workers have received a lease in time.", leased_,
                  options_.workers);
    turn(std::chrono::milliseconds(1));
  }
  if (broken_) return std::unexpected(*broken_);
  return {};
}

Result<> Crowd::idle(Duration duration) {
  const Instant end = now() + duration;
  while (now() < end && !broken_) turn(std::chrono::milliseconds(10));
  if (broken_) return std::unexpected(*broken_);
  return {};
}

}  // namespace weft::coordinator::bench
