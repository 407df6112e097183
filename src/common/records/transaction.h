// What moves money: a list of entries that sums to zero, applied once, known by its key. The
// functions make the transactions that Weft uses; Ledger::apply() judges and applies them.
//
// Where credits come from stays known (account.h). What is spent is granted credits first, and what
// an escrow pays is granted first; payments of one transaction share them in proportion to their
// amounts (ledger::divide), so that each payee's part follows from the entries alone. What goes
// back goes back as what it was.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/records/account.h"
#include "common/records/funds.h"

namespace weft::ledger {

// How every key of an answer's transactions begins.
inline constexpr std::string_view answer_key_prefix = "answer-";

struct Entry {
  Account account;
  MicroCredits amount = 0;  // Added to the balance; negative takes away.
  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Transaction {
  std::string key;  // Idempotency: the same key is applied once, whatever else it says.
  std::optional<JobId>
      job;  // The job it belongs to. Keys of a job are forgotten by Ledger::close().
  std::vector<Entry> entries;
  std::string what;  // One line for a person: "pays task 3 to 2 workers".
  friend bool operator==(const Transaction&, const Transaction&) = default;
};

// That a transaction with this key has been applied.
struct AppliedKey {
  std::string key;
  std::optional<JobId> job;
};

// --- Entries that move `funds`, without those of 0.

enum class Sign : std::int8_t { add = 1, take = -1 };
void post_owner(std::vector<Entry>& entries, const OwnerId& owner, const Funds& funds, Sign sign);
void post_held(std::vector<Entry>& entries, const OwnerId& owner, const Funds& funds, Sign sign);
void post_escrow(std::vector<Entry>& entries, const JobId& job, const Funds& funds, Sign sign);
void post_platform(std::vector<Entry>& entries, const Funds& funds, Sign sign);
void post_verification(std::vector<Entry>& entries, const Funds& funds, Sign sign);

// --- Credits come and move

// `amount` of granted credits from mint to a new owner. Key "grant:OWNER": one grant an owner,
// ever.
[[nodiscard]] Transaction grant(const OwnerId& owner, MicroCredits amount);

// `amount` of free credits from mint, which the operator has been paid for. Key
// "issue:OWNER:NUMBER".
[[nodiscard]] Transaction issue(const OwnerId& owner, MicroCredits amount, std::uint64_t number);

// Free credits of one owner to another, or to itself, which changes nothing. Key
// "transfer:FROM:NUMBER".
[[nodiscard]] Transaction transfer(const OwnerId& from, const OwnerId& to, MicroCredits amount,
                                   std::uint64_t number);

// Free credits of an owner out of the ledger, to be paid on a chain. Key "settle:OWNER:NUMBER".
[[nodiscard]] Transaction settle(const OwnerId& owner, MicroCredits amount, std::uint64_t number);

// --- Jobs

// The job's budget from its client, who has `has`, into its escrow. Key "open:JOB".
[[nodiscard]] Transaction open_escrow(const JobId& job, const OwnerId& client, MicroCredits budget,
                                      const Funds& has);

// A task's price out of the job's escrow, to those who worked; the rest goes back to the client.
// Key "pay:JOB/INDEX": a task is paid once.
struct TaskPay {
  TaskId task;
  OwnerId client;
  MicroCredits price = 0;
  std::uint32_t replicas = 1;
  // Both in thousandths of each worker's share, rounded down; together below 1000.
  // To the platform. Always 0 today: used when the operator's fee becomes part of a signed quote.
  std::uint32_t fee_permille = 0;
  std::uint32_t verification_permille = 0;  // To the verification account.
};
enum class PayAs : std::uint8_t { free, held };
struct Payee {
  OwnerId owner;
  MicroCredits amount = 0;
  PayAs as = PayAs::free;
  MicroCredits staked =
      0;  // Part of it that goes into the owner's stake; less where less of it is free credits.
};
// What each agreeing worker gets of it: price / replicas (rounded down) without fee and
// verification.
[[nodiscard]] MicroCredits share(const TaskPay& pay);
// Agreeing workers as payees of a share each, at most `replicas` of them.
[[nodiscard]] std::vector<Payee> equal_shares(const TaskPay& pay,
                                              std::span<const OwnerId> agreeing);
// `agreeing`: how many of the payees, from the first on, have the fee and the verification of their
// share taken; others (auditors) get their amount out of what would go back. All amounts together
// are at most the price. `escrow` is what the job's escrow holds, at least the price.
[[nodiscard]] Transaction pay_task(const TaskPay& pay, std::span<const Payee> payees,
                                   std::size_t agreeing, const Funds& escrow);

// The agreeing workers' equal shares, free at once.
[[nodiscard]] Transaction pay_task(const TaskPay& pay, std::span<const OwnerId> agreeing,
                                   const Funds& escrow);

// What `transaction` adds to the owner's held credits: remember it until release() or forfeit().
[[nodiscard]] Funds held_by(const Transaction& transaction, const OwnerId& owner);

// Pay of a task that was held becomes the owner's. Key "release:JOB/INDEX:WORKER".
struct HeldPay {
  TaskId task;
  PublicKey worker;
  OwnerId owner;
  Funds funds;
};
[[nodiscard]] Transaction release(const HeldPay& held);
// Pay of a task that was held and is lost: to the client of the task where its result was wrong,
// else to the verification account. Key "forfeit:JOB/INDEX:WORKER".
[[nodiscard]] Transaction forfeit(const HeldPay& held, const std::optional<OwnerId>& client);

// What a client paid for a task whose accepted result was wrong, out of what a conviction took, the
// stake of the convicted worker's owner and the verification account. Key "correct:JOB/INDEX:TIME".
struct WrongRefund {
  TaskId task;
  std::int64_t time = 0;  // When it was corrected: tells refunds of one task apart.
  OwnerId client;
  Funds platform;      // From each
  Funds verification;  // of the two accounts,
  OwnerId worker;      // and from this owner's stake.
  MicroCredits stake = 0;
};
[[nodiscard]] Transaction refund_wrong(const WrongRefund& refund);

// `amount` out of the verification account, which holds `has`, to a verifier or auditor. Key
// "verify:JOB/INDEX:WORKER".
[[nodiscard]] Transaction pay_verifier(const TaskId& task, const PublicKey& worker,
                                       const OwnerId& owner, MicroCredits amount, const Funds& has);

// `amount` of the escrow, which holds `escrow`, back to the client before the job's end.
// `key_suffix` tells refunds of one job apart. Key "refund:JOB:SUFFIX". Not used yet: it will
// return the price of the tasks of a convicted worker.
[[nodiscard]] Transaction refund(const JobId& job, const OwnerId& client, MicroCredits amount,
                                 std::string_view key_suffix, const Funds& escrow);

// Whatever is left in the escrow (`remaining`, from Ledger::escrow) back to the client at the job's
// end. Key "close:JOB".
[[nodiscard]] Transaction close_escrow(const JobId& job, const OwnerId& client,
                                       const Funds& remaining);

// --- Stakes

// Moves free credits of an owner to its stake and back. `number` tells those of one owner apart.
// Keys "stake:OWNER:NUMBER" and "unstake:OWNER:NUMBER". What is at risk for open tasks is trust's
// to know: it says how much may be taken out.
[[nodiscard]] Transaction deposit_stake(const OwnerId& owner, MicroCredits amount,
                                        std::uint64_t number);
[[nodiscard]] Transaction withdraw_stake(const OwnerId& owner, MicroCredits amount,
                                         std::uint64_t number);

// A wrong result costs: out of the stake of the worker's owner (at most what it holds: `stake`),
// first the client's damage, the rest to the platform. Key "slash:JOB/INDEX:WORKER": one task
// slashes a worker once. Nothing to take gives no entries; apply() takes that too, so that the key
// is spent.
struct Slash {
  TaskId task;
  PublicKey worker;
  OwnerId owner;
  OwnerId client;
  MicroCredits penalty = 0;
  MicroCredits damage = 0;
  MicroCredits stake = 0;
};
[[nodiscard]] Transaction slash(const Slash& slash);

}  // namespace weft::ledger
