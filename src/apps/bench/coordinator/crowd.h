// Clients and workers of one coordinator, on one thread. Clients submit signed jobs over HTTP;
// workers hold WebSockets, prove their keys, take leases, deliver results with their Merkle roots,
// and sign receipts. They follow the whole protocol, but do no work: a task's output is 16 bytes
// derived from its id, so that replicas agree and tasks differ.
//
// A task is done when `replicas` workers have been told that it was accepted, which the coordinator
// says only after the acceptance is durable.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/bench/coordinator/talk.h"
#include "apps/bench/coordinator/wire.h"
#include "common/crypto/keys.h"
#include "common/protocol/coordinator_message.h"
#include "common/records/records.h"

namespace weft::coordinator::bench {

class Crowd {
 public:
  struct Options {
    std::uint16_t port = 0;
    std::size_t workers = 64;
    // Tasks in flight on a worker's connection; a receipt covers all that are ready.
    std::uint32_t slots = 1;
    std::size_t clients = 64;  // Connections of one wallet, each with one submission at a time.
    std::uint32_t tasks = 1;   // Number of tasks in a job.
    std::uint32_t replicas = 1;
    // The workers are strangers: they have no invitation and deliver what the shader computes. Each
    // task has `slices` workgroups, which the coordinator's verifier can compute one by one.
    bool strangers = false;
    std::uint32_t slices = 1;
    std::uint32_t budget = 1;  // Credits for each job.
    bool sign = true;  // Real signatures of submissions and receipts; false: zeros (floor.h).
  };
  // Connects all workers and clients and waits until all workers are welcome.
  [[nodiscard]] static Result<std::unique_ptr<Crowd>> gather(Options options);
  Crowd(const Crowd&) = delete;

  // Signs the next `jobs` submissions in advance, because real clients sign on machines of their
  // own.
  void prepare(std::size_t jobs);

  struct Tally {
    double seconds = 0;
    std::uint64_t tasks_done = 0;
    // Time from the scheduled submission of a job until a worker had its first task.
    std::vector<double> lease_seconds;
    std::uint64_t late = 0;  // Submissions delayed because no client was free (open loop).
  };
  // Runs a closed loop: every client submits its next job when its last one is done.
  [[nodiscard]] Result<Tally> run_closed(Duration duration);
  // Runs an open loop: submits `jobs_per_second`, whether earlier jobs are done or not.
  [[nodiscard]] Result<Tally> run_open(Duration duration, double jobs_per_second);
  // Works until every worker has had a lease, of any job. Fails with deadline_exceeded if that
  // takes longer than `patience`.
  [[nodiscard]] Result<> until_all_have_work(Duration patience);
  // Handles incoming messages such as pings and leases, but submits nothing.
  [[nodiscard]] Result<> idle(Duration duration);

 private:
  struct Worker {
    crypto::KeyPair key;
    protocol::Challenge challenge{};
    bool welcome = false;
    bool leased = false;  // The worker has had a lease.
    std::vector<protocol::ReceiptItem> unsigned_items;
  };
  struct Prepared {
    std::string headers;
    std::string body;
  };
  struct Flight {
    std::optional<std::size_t> client;  // Empty until the reply to the submission.
    std::optional<Instant> leased;
    std::uint32_t verdicts = 0;
  };
  struct Client {
    Wire::Id connection = 0;
    Instant submitted{};  // The time at which the submission was due.
    bool busy = false;
  };

  explicit Crowd(Options options);
  [[nodiscard]] Result<> connect();
  // Redeems the operator's invitation for credits, as one of the operator's own clients.
  [[nodiscard]] Result<> redeem_invitation();
  // The header lines that sign a POST request.
  [[nodiscard]] std::string post_headers(std::string_view path, std::string_view body) const;
  void submit(std::size_t client, Instant due);
  void answered(Wire::Id id, int status, std::string_view body);
  void hear(Wire::Id id, std::string_view text);
  void work(Worker& worker, Wire::Id id, const protocol::Lease& lease);
  void sign(Worker& worker, Wire::Id id);
  [[nodiscard]] Signing signing() const { return options_.sign ? Signing::real : Signing::zeros; }
  void settle(const JobId& job, Flight& flight);
  void turn(Duration patience);

  const Options options_;
  const crypto::KeyPair wallet_;
  std::unique_ptr<Wire> wire_;
  std::unordered_map<Wire::Id, Worker> workers_;
  std::vector<Wire::Id> signing_;  // Workers with items to sign.
  PublicKey coordinator_;          // The key in the coordinator's challenges.
  std::string invitation_;         // Read from the file that the challenges name.
  std::optional<Result<>> redeemed_;
  std::size_t welcome_ = 0;
  std::size_t leased_ = 0;  // Workers that have had a lease.
  std::vector<Client> clients_;
  std::unordered_map<Wire::Id, std::size_t> client_of_;
  std::deque<Prepared> prepared_;
  std::uint64_t next_job_ = 0;
  std::unordered_map<JobId, Flight> flights_;
  std::deque<std::size_t> free_clients_;
  bool closed_loop_ = false;
  Tally tally_;
  std::optional<Error> broken_;
};

}  // namespace weft::coordinator::bench
