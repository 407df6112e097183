// Transactions, which move money: a list of entries that sums to zero, applied once and identified
// by its key. The functions make the transactions that Weft uses; Ledger::apply() judges and
// applies them.
//
// The origin of credits stays known (account.h). Granted credits are spent first, and an escrow
// pays granted credits first. The payments of one transaction share them in proportion to their
// amounts (ledger::divide), so that each payee's part follows from the entries alone. Returned
// credits keep their origin.
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

// The prefix of the keys of all transactions of answers.
inline constexpr std::string_view answer_key_prefix = "answer-";

struct Entry {
  Account account;
  MicroCredits amount = 0;  // Added to the balance; negative amounts are taken away.
  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Transaction {
  // Identifies the transaction: a key is applied only once, whatever the entries are.
  std::string key;
  std::optional<JobId>
      job;  // The job of the transaction. Ledger::close() forgets the keys of a job.
  std::vector<Entry> entries;
  std::string what;  // One line for people: "pays task 3 to 2 workers".
  friend bool operator==(const Transaction&, const Transaction&) = default;
};

// The key of a transaction that was applied.
struct AppliedKey {
  std::string key;
  std::optional<JobId> job;
};

// --- Functions that add the entries for `funds`, without those of 0.

enum class Sign : std::int8_t { add = 1, take = -1 };
void post_owner(std::vector<Entry>& entries, const OwnerId& owner, const Funds& funds, Sign sign);
void post_held(std::vector<Entry>& entries, const OwnerId& owner, const Funds& funds, Sign sign);
void post_escrow(std::vector<Entry>& entries, const JobId& job, const Funds& funds, Sign sign);
void post_platform(std::vector<Entry>& entries, const Funds& funds, Sign sign);
void post_verification(std::vector<Entry>& entries, const Funds& funds, Sign sign);

// --- Creation and transfer of credits.

// Moves `amount` of granted credits from mint to a new owner. Key "grant:OWNER", so an owner gets
// one grant at most.
[[nodiscard]] Transaction grant(const OwnerId& owner, MicroCredits amount);

// Moves `amount` of free credits, for which the operator was paid, from mint to the owner. Key
// "issue:OWNER:NUMBER".
[[nodiscard]] Transaction issue(const OwnerId& owner, MicroCredits amount, std::uint64_t number);

// Moves free credits of one owner to another, or to itself, which changes nothing. Key
// "transfer:FROM:NUMBER".
[[nodiscard]] Transaction transfer(const OwnerId& from, const OwnerId& to, MicroCredits amount,
                                   std::uint64_t number);

// Moves free credits of an owner out of the ledger, to be paid on a chain. Key
// "settle:OWNER:NUMBER".
[[nodiscard]] Transaction settle(const OwnerId& owner, MicroCredits amount, std::uint64_t number);

// --- Jobs

// Moves the job's budget from its client, whose funds are `has`, into its escrow. Key "open:JOB".
[[nodiscard]] Transaction open_escrow(const JobId& job, const OwnerId& client, MicroCredits budget,
                                      const Funds& has);

// Pays a task's price out of the job's escrow to its workers; the rest goes back to the client. Key
// "pay:JOB/INDEX": a task is paid once.
struct TaskPay {
  TaskId task;
  OwnerId client;
  MicroCredits price = 0;
  std::uint32_t replicas = 1;
  // Thousandths of each worker's share that go to the platform as the operator's fee, rounded down.
  // The fee is always 0 today: it will be used when it becomes part of a signed quote. The sum of
  // fee_permille and verification_permille is below 1000.
  std::uint32_t fee_permille = 0;
  std::uint32_t verification_permille = 0;  // Thousandths for the verification account.
};
enum class PayAs : std::uint8_t { free, held };
struct Payee {
  OwnerId owner;
  MicroCredits amount = 0;
  PayAs as = PayAs::free;
  MicroCredits staked =
      0;  // The part that goes into the owner's stake; less if fewer of its credits are free.
};
// The share of each agreeing worker: price / replicas (rounded down), without fee and verification.
[[nodiscard]] MicroCredits share(const TaskPay& pay);
// The agreeing workers as payees of one share each, at most `replicas` of them.
[[nodiscard]] std::vector<Payee> equal_shares(const TaskPay& pay,
                                              std::span<const OwnerId> agreeing);
// Pays the payees of a task. The fee and the part for verification are taken from the shares of the
// first `agreeing` payees. The other payees (auditors) get their amounts out of the part that would
// go back to the client. All amounts together are at most the price. `escrow` is the content of the
// job's escrow, which is at least the price.
[[nodiscard]] Transaction pay_task(const TaskPay& pay, std::span<const Payee> payees,
                                   std::size_t agreeing, const Funds& escrow);

// Pays the agreeing workers' equal shares, free at once.
[[nodiscard]] Transaction pay_task(const TaskPay& pay, std::span<const OwnerId> agreeing,
                                   const Funds& escrow);

// The credits that `transaction` adds to the owner's held credits. Keep them until release() or
// forfeit().
[[nodiscard]] Funds held_by(const Transaction& transaction, const OwnerId& owner);

// Held pay of a task becomes free credits of the owner. Key "release:JOB/INDEX:WORKER".
struct HeldPay {
  TaskId task;
  PublicKey worker;
  OwnerId owner;
  Funds funds;
};
[[nodiscard]] Transaction release(const HeldPay& held);
// Held pay of a task is lost. It goes to the task's client if the result was wrong, otherwise to
// the verification account. Key "forfeit:JOB/INDEX:WORKER".
[[nodiscard]] Transaction forfeit(const HeldPay& held, const std::optional<OwnerId>& client);

// Refunds a client's payment for a task whose accepted result was wrong. The refund comes from the
// amounts that a conviction took, the stake of the convicted worker's owner and the verification
// account. Key "correct:JOB/INDEX:TIME".
struct WrongRefund {
  TaskId task;
  std::int64_t time = 0;  // Time of the correction, which distinguishes refunds of one task.
  OwnerId client;
  Funds platform;      // The amount from the platform account.
  Funds verification;  // The amount from the verification account.
  OwnerId worker;      // The owner whose stake pays `stake`.
  MicroCredits stake = 0;
};
[[nodiscard]] Transaction refund_wrong(const WrongRefund& refund);

// Pays `amount` out of the verification account, whose funds are `has`, to a verifier or auditor.
// Key "verify:JOB/INDEX:WORKER".
[[nodiscard]] Transaction pay_verifier(const TaskId& task, const PublicKey& worker,
                                       const OwnerId& owner, MicroCredits amount, const Funds& has);

// Returns `amount` of the escrow, whose funds are `escrow`, to the client before the job's end.
// `key_suffix` distinguishes refunds of one job. Key "refund:JOB:SUFFIX". Not used yet: it will
// return the price of the tasks of a convicted worker.
[[nodiscard]] Transaction refund(const JobId& job, const OwnerId& client, MicroCredits amount,
                                 std::string_view key_suffix, const Funds& escrow);

// Returns the rest of the escrow (`remaining`, from Ledger::escrow) to the client at the job's end.
// Key "close:JOB".
[[nodiscard]] Transaction close_escrow(const JobId& job, const OwnerId& client,
                                       const Funds& remaining);

// --- Stakes

// Moves free credits of an owner to its stake, and back. `number` distinguishes the moves of one
// owner. Keys "stake:OWNER:NUMBER" and "unstake:OWNER:NUMBER". decisions/trust knows the stake that
// is at risk for open tasks, and says how much may be withdrawn.
[[nodiscard]] Transaction deposit_stake(const OwnerId& owner, MicroCredits amount,
                                        std::uint64_t number);
[[nodiscard]] Transaction withdraw_stake(const OwnerId& owner, MicroCredits amount,
                                         std::uint64_t number);

// Charges the worker's owner for a wrong result out of its stake (whose content is `stake`): first
// the client's damage, then the rest of the penalty to the platform. Key "slash:JOB/INDEX:WORKER":
// one task slashes a worker once. An empty stake gives no entries; apply() accepts this, too, so
// that the key is used up.
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
