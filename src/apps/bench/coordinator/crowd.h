// Clients and workers of one coordinator, in one thread: clients submit signed jobs over HTTP,
// workers hold WebSockets, prove their keys, take leases, hand in results with their Merkle roots
// and sign receipts. They follow the whole protocol; only the work itself is nothing: a task's
// output are 16 bytes that follow from its name, so that replicas agree and no two are alike.
//
// A task is done when `replicas` workers have heard that it was accepted, which the coordinator
// says once that is durable.
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
    std::uint32_t slots = 1;  // Results in flight on a worker's connection; one receipt covers what
                              // is ready together.
    std::size_t clients = 64;  // Connections, of one wallet; each has one submission under way.
    std::uint32_t tasks = 1;   // Tasks of a job.
    std::uint32_t replicas = 1;
    // Workers that no operator invited: they hand in what the shader computes, in tasks of so many
    // workgroups, each of which the coordinator's verifier can compute again alone.
    bool strangers = false;
    std::uint32_t slices = 1;
    std::uint32_t budget = 1;  // Credits for each job.
    bool sign = true;  // Submissions and receipts; else zeros stand there, for a server that does
                       // not look (floor.h).
  };
  // Connects all workers and clients and waits until all workers are welcome.
  [[nodiscard]] static Result<std::unique_ptr<Crowd>> gather(Options options);
  Crowd(const Crowd&) = delete;

  // Signs so many submissions ahead: clients sign on machines of their own.
  void prepare(std::size_t jobs);

  struct Tally {
    double seconds = 0;
    std::uint64_t tasks_done = 0;
    std::vector<double> lease_seconds;  // From the moment a job was to be submitted until a worker
                                        // had its first task.
    std::uint64_t late = 0;             // Submissions that waited for a free client (open loop).
  };
  // Every client submits its next job when its last is done.
  [[nodiscard]] Result<Tally> run_closed(Duration duration);
  // So many jobs a second, whether earlier ones are done or not.
  [[nodiscard]] Result<Tally> run_open(Duration duration, double jobs_per_second);
  // Works for any job until every worker has been leased something.
  // deadline_exceeded where that takes longer.
  [[nodiscard]] Result<> until_all_have_work(Duration patience);
  // Answers pings and the like.
  [[nodiscard]] Result<> idle(Duration duration);

 private:
  struct Worker {
    crypto::KeyPair key;
    protocol::Challenge challenge{};
    bool welcome = false;
    bool leased = false;  // Ever.
    std::vector<protocol::ReceiptItem> unsigned_items;
  };
  struct Prepared {
    std::string headers;
    std::string body;
  };
  struct Flight {
    std::optional<std::size_t> client;  // Until the answer is there it is not known.
    std::optional<Instant> leased;
    std::uint32_t verdicts = 0;
  };
  struct Client {
    Wire::Id connection = 0;
    Instant submitted{};  // Was to be.
    bool busy = false;
  };

  explicit Crowd(Options options);
  [[nodiscard]] Result<> connect();
  // As one of the operator's own clients.
  [[nodiscard]] Result<> redeem_invitation();
  // The lines that sign a POST.
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
  std::vector<Wire::Id> signing_;  // Workers with unsigned items.
  PublicKey coordinator_;          // As its challenges name it.
  std::string invitation_;         // The operator's own, whose file they name too.
  std::optional<Result<>> redeemed_;
  std::size_t welcome_ = 0;
  std::size_t leased_ = 0;  // Workers that ever had a lease.
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
