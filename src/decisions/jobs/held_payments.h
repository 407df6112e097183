// The pay of newcomers: held when a task is paid, and freed later. forfeits.h handles the held pay
// that a conviction takes.
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
  // A sentence for the worker that says why its pay is held; empty if its pay is free at once.
  [[nodiscard]] std::string why_held(const PublicKey& worker) const;

  // Gives the pay that is free by now to its owners.
  void free(Moment now);
  [[nodiscard]] std::optional<Instant> next() const { return paid_.held.next(); }
  // The time at which the pay for a task that was found wrong becomes free. While its client is
  // owed a refund, the pay waits for a conviction.
  [[nodiscard]] Instant free_after_correction(const store::Correction& row, Moment now) const;

  // Moves held money. `what` is part of the transaction's name, with the worker and a number.
  void move(ledger::Transaction transaction, std::string_view what, const HeldPays::Entry& held,
            Moment now);
  // Removes the task's row of held pay.
  void forget_row(const TaskId& task, const PublicKey& worker);
  // Sets the first number of transactions, so that it is higher than any number before the restart.
  void restore(Moment now) { moves_ = static_cast<std::uint64_t>(now.unix) * 1000; }

 private:
  // A sentence that says why the worker, a newcomer of another network, gets no task; else empty.
  [[nodiscard]] std::string why_no_task(const PublicKey& worker) const;

  CoreTables& tables_;
  PaidTables& paid_;
  // The number in the key of the last transaction that move() made. It only grows, so that keys are
  // unique.
  std::uint64_t moves_ = 0;
};

}  // namespace weft::jobs
