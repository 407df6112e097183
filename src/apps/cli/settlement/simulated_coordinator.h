// The coordinator of a settlement simulation: the ledger, the journal of charges and the rows of
// epochs by the same decisions as the real one, without its sockets. A crash takes all that is not
// on the disk; what it has written is what the real one's store and journal have.
//
// Threading: one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "apps/cli/settlement/credit_journal.h"
#include "apps/cli/settlement/simulated_books.h"
#include "decisions/ledger/ledger.h"
#include "decisions/settlement/charges.h"
#include "decisions/settlement/epoch_rows.h"
#include "decisions/settlement/work_units.h"

namespace weft::cli {

class SimulatedCoordinator {
 public:
  struct Place {
    std::filesystem::path journal;
    PublicKey config;
    PublicKey key;
  };
  [[nodiscard]] static Result<SimulatedCoordinator> create(const Place& place);

  // What the chain has charged clients becomes their credits, each charge once.
  struct Charged {
    PublicKey client;
    std::uint64_t amount = 0;  // Since the start.
  };
  enum class Crash : std::uint8_t { none, before_answer };
  // before_answer: the process ends when the ledger has moved the first crediting and the journal
  // does not say so yet; restart() goes on. Gives how many were credited.
  [[nodiscard]] Result<std::size_t> credit(std::span<const Charged> charged, Crash crash);
  // Memory is lost, and made again from the disk; what was open is asked of the ledger again.
  // `forgetful` is a defect: the ledger is asked under another key.
  [[nodiscard]] Result<> restart(bool forgetful);

  // A job of the client with a task for each worker, paid with all its free credits.
  [[nodiscard]] Result<> work(const PublicKey& client, std::span<const PublicKey> workers,
                              double units);
  // All free credits of the owner, if they are a credit or more.
  [[nodiscard]] Result<> settle(const PublicKey& owner);
  [[nodiscard]] Result<settlement::EpochRows> rows(std::span<const solana::Earned> previous,
                                                   const settlement::EpochFunds& funds) const;

  [[nodiscard]] const LedgerSums& sums();

 private:
  struct Written {  // As the store keeps it.
    ledger::Transaction transaction;
    std::optional<settlement::PaidJob> job;
  };
  SimulatedCoordinator(Place place, CreditJournal journal)
      : place_(std::move(place)), journal_(std::move(journal)) {}
  [[nodiscard]] Result<> apply(ledger::Transaction transaction,
                               std::optional<settlement::PaidJob> job = {});
  [[nodiscard]] Result<> issue(const settlement::Crediting& crediting, std::uint64_t salt);
  [[nodiscard]] Result<> written(const settlement::JournalRow& row);

  Place place_;
  // On the disk.
  std::vector<Written> store_;
  std::optional<CreditJournal> journal_;
  std::uint64_t numbers_ = 0;  // Given to jobs and settlements: requests bring their own nonces.
  // In memory.
  ledger::Ledger ledger_;
  settlement::Charges charges_;
  settlement::WorkUnits units_;
  std::optional<LedgerSums> sums_;
};

}  // namespace weft::cli
