// Newcomers' pay: held when a task is paid, and freed later. What a conviction takes of it is
// forfeits.h's.
//
// Threading: one thread. Memory: as HeldPays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/paid_tables.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

class HeldPayments final : public PayHolding {
 public:
  HeldPayments(CoreTables& tables, PaidTables& paid) : tables_(tables), paid_(paid) {}
  HeldPayments(const HeldPayments&) = delete;

  [[nodiscard]] bool holds_pay_of(const PublicKey& worker) const override;
  void hold(std::vector<HeldPays::Entry> of_task, const RunningJob& job, std::uint32_t index,
            std::size_t agreeing, Moment now) override;
  void hold_unknown(const HeldPays::Entry& entry, Moment now) override;
  // That its pay is held, in a sentence for the worker; empty if its pay is free at once.
  [[nodiscard]] std::string why_held(const PublicKey& worker) const;

  // What is free by now becomes its owners'.
  void free(Moment now);
  [[nodiscard]] std::optional<Instant> next() const { return paid_.held.next(); }
  // When the pay for a task that was found wrong becomes free: as long as its client is owed
  // something it waits for a conviction.
  [[nodiscard]] Instant free_after_correction(const store::Correction& row, Moment now) const;

  // Moves money that is held; `what` names the transaction with the worker and a number.
  void move(ledger::Transaction transaction, std::string_view what, const HeldPays::Entry& held,
            Moment now);
  // Removes the task's row of held pay.
  void forget_row(const TaskId& task, const PublicKey& worker);
  // Transactions are numbered later than any before the restart.
  void restore(Moment now) { moves_ = static_cast<std::uint64_t>(now.unix) * 1000; }

 private:
  // Why the worker gets no task, as a newcomer of another network.
  [[nodiscard]] std::string why_no_task(const PublicKey& worker) const;

  CoreTables& tables_;
  PaidTables& paid_;
  std::uint64_t moves_ = 0;  // Numbers transactions.
};

}  // namespace weft::jobs
