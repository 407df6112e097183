// What must survive, as rows. A Batch is what one event (or several) decided; it is committed whole or not at all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "service/ledger/transaction.h"

namespace weft::store {

enum class JobState : std::uint8_t { running = 0, done = 1, failed = 2, cancelled = 3 };
[[nodiscard]] std::string_view to_string(JobState state);
[[nodiscard]] inline bool is_terminal(JobState state) { return state != JobState::running; }

struct OutputBlob {
  Hash hash;
  std::uint64_t bytes = 0;
  friend bool operator==(const OutputBlob&, const OutputBlob&) = default;
};

struct Job {
  JobId id;
  PublicKey client;
  std::string name;
  std::string manifest;  // JSON text as the workers get it: all data as blobs.
  Hash manifest_hash;    // Of that text: the blob's name.
  std::uint32_t tasks = 0;
  MicroCredits budget = 0;
  UnixMillis created = 0;
  // What changes later (JobUpdate).
  JobState state = JobState::running;
  std::uint32_t accepted = 0;  // Kept by the store from the tasks that are committed.
  MicroCredits price = 0;      // 0 until the canary has passed.
  double units = 0;
  double reference_seconds_per_workgroup = 0;
  std::string reason;               // Where failed or cancelled.
  Hash root;                        // Where done.
  std::vector<OutputBlob> outputs;  // Where done: the joined outputs, in manifest order.
  UnixMillis ended = 0;
  friend bool operator==(const Job&, const Job&) = default;
};

// Sets what is given.
struct JobUpdate {
  struct Price {
    MicroCredits price = 0;
    double units = 0;
    double reference_seconds_per_workgroup = 0;
  };
  struct End {
    JobState state = JobState::done;
    std::string reason;
    Hash root;
    std::vector<OutputBlob> outputs;
    UnixMillis ended = 0;
  };
  JobId id;
  std::optional<Price> price;
  std::optional<End> end;
};

// An accepted task. Tasks without a row are open.
struct Task {
  TaskId id;
  Hash root;
  std::vector<OutputBlob> outputs;
  PublicKey worker;                 // Whose bytes they are.
  std::vector<PublicKey> agreeing;  // Who was paid.
  UnixMillis accepted = 0;
  friend bool operator==(const Task&, const Task&) = default;
};

// A replica that counts (its receipt is valid). One worker has one for each task.
struct Replica {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  std::vector<OutputBlob> outputs;
  Hash receipt;  // The receipt's digest.
  double gpu_seconds = 0;
  double wall_seconds = 0;
  UnixMillis arrived = 0;
  friend bool operator==(const Replica&, const Replica&) = default;
};

// A signed receipt, kept for audits and disputes; committed before the replicas that name it, or with them. Committed again with
// the same digest while the store is open it changes nothing.
struct Receipt {
  Hash digest;
  PublicKey worker;
  Hash session_nonce;
  Signature signature;
  UnixMillis arrived = 0;
  friend bool operator==(const Receipt&, const Receipt&) = default;
};

struct Transaction {
  ledger::Transaction transaction;
  UnixMillis time = 0;
  friend bool operator==(const Transaction&, const Transaction&) = default;
};

using SubmitNonce = std::array<std::uint8_t, 16>;
// A client's submission that was taken: the same nonce gives the same job again.
struct Nonce {
  PublicKey client;
  SubmitNonce nonce{};
  JobId job;
  friend bool operator==(const Nonce&, const Nonce&) = default;
};

// A small value by name: the coordinator's key ("identity"), grants given and the like.
struct Setting {
  std::string name;
  std::vector<std::uint8_t> value;
  friend bool operator==(const Setting&, const Setting&) = default;
};

struct Reputation {
  PublicKey worker;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  friend bool operator==(const Reputation&, const Reputation&) = default;
};

// In the order of the fields, so that a job stands before its tasks.
struct Batch {
  std::vector<Setting> settings;
  std::vector<Job> jobs;
  std::vector<Nonce> nonces;
  std::vector<Receipt> receipts;
  std::vector<Replica> replicas;
  std::vector<Task> tasks;
  std::vector<JobUpdate> job_updates;
  std::vector<Transaction> transactions;
  std::vector<Reputation> reputations;
  std::vector<std::string> dropped_settings;  // By name; after `settings`. Those that are not there are nothing.

  [[nodiscard]] bool empty() const;
  // Appends all of `other`.
  void merge(Batch&& other);
};

}  // namespace weft::store
