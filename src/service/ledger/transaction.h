// What moves money: a list of entries that sums to zero, applied once, known by its key. The functions make the
// transactions that Weft uses; Ledger::apply() judges and applies them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "service/ledger/account.h"

namespace weft::ledger {

struct Entry {
  Account account;
  MicroCredits amount = 0;  // Added to the balance; negative takes away.
  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Transaction {
  std::string key;           // Idempotency: the same key is applied once, whatever else it says.
  std::optional<JobId> job;  // The job it belongs to. Keys of a job are forgotten by Ledger::close().
  std::vector<Entry> entries;
  std::string what;  // One line for a person: "pays task 3 to 2 workers".
  friend bool operator==(const Transaction&, const Transaction&) = default;
};

// `amount` from mint to a new client. Key "grant:KEY": one grant a client, for ever.
[[nodiscard]] Transaction grant(const PublicKey& client, MicroCredits amount);

// The job's budget from its client into its escrow. Key "open:JOB".
[[nodiscard]] Transaction open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget);

// A task's price out of the job's escrow: price / replicas (rounded down) to each agreeing worker, the rest back to the
// client. `agreeing` are distinct workers, at most `replicas` of them. Key "pay:JOB/INDEX": a task is paid once.
struct TaskPay {
  TaskId task;
  PublicKey client;
  MicroCredits price = 0;
  std::uint32_t replicas = 1;
};
[[nodiscard]] Transaction pay_task(const TaskPay& pay, std::span<const PublicKey> agreeing);
// What each agreeing worker gets of it.
[[nodiscard]] MicroCredits share(const TaskPay& pay);

// `amount` of the escrow back to the client before the job's end. `key_suffix` tells refunds of one job apart. Key "refund:JOB:SUFFIX".
[[nodiscard]] Transaction refund(const JobId& job, const PublicKey& client, MicroCredits amount, std::string_view key_suffix);

// Whatever is left in the escrow (`remaining`, from Ledger::balance) back to the client at the job's end. Key "close:JOB".
[[nodiscard]] Transaction close_escrow(const JobId& job, const PublicKey& client, MicroCredits remaining);

}  // namespace weft::ledger
