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
  std::uint32_t fee_permille = 0;  // Of each worker's share, to the platform (rounded down); below 1000.
};
[[nodiscard]] Transaction pay_task(const TaskPay& pay, std::span<const PublicKey> agreeing);
// What each agreeing worker gets of it, the fee taken off.
[[nodiscard]] MicroCredits share(const TaskPay& pay);

// Moves money between an account of the key's (client:KEY or worker:KEY) and its stake. `number` tells those of one key
// apart. Keys "stake:KEY:NUMBER" and "unstake:KEY:NUMBER". What is at risk for open tasks is trust's to know: it says how
// much may be taken out.
[[nodiscard]] Transaction deposit_stake(const Account& from, const PublicKey& key, MicroCredits amount, std::uint64_t number);
[[nodiscard]] Transaction withdraw_stake(const PublicKey& key, const Account& to, MicroCredits amount, std::uint64_t number);

// A wrong result costs: out of the worker's stake (at most what it holds: `stake`), first the client's damage, the rest to
// the platform. Key "slash:JOB/INDEX:KEY": one task slashes a worker once. Nothing to take gives no entries; apply() takes
// that too, so that the key is spent.
struct Slash {
  TaskId task;
  PublicKey worker;
  PublicKey client;
  MicroCredits penalty = 0;
  MicroCredits damage = 0;
  MicroCredits stake = 0;
};
[[nodiscard]] Transaction slash(const Slash& slash);

// `amount` of the escrow back to the client before the job's end. `key_suffix` tells refunds of one job apart. Key "refund:JOB:SUFFIX".
[[nodiscard]] Transaction refund(const JobId& job, const PublicKey& client, MicroCredits amount, std::string_view key_suffix);

// Whatever is left in the escrow (`remaining`, from Ledger::balance) back to the client at the job's end. Key "close:JOB".
[[nodiscard]] Transaction close_escrow(const JobId& job, const PublicKey& client, MicroCredits remaining);

}  // namespace weft::ledger
