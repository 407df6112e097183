// The coordinator of a settlement simulation: the ledger, the journal of charges and the rows of
// epochs, with the decision code of the real coordinator and without its sockets. A crash loses
// everything that is not on the disk; its written state corresponds to the real store and journal.
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

  // An amount that the chain has charged a client and that becomes credits once.
  struct Charged {
    PublicKey client;
    std::uint64_t amount = 0;  // Charged amount since the start.
  };
  enum class Crash : std::uint8_t { none, before_answer };
  // Issues credits for charges and returns their number. Crash::before_answer ends the process
  // after the ledger has moved the first credits and before the journal has its row; restart()
  // continues.
  [[nodiscard]] Result<std::size_t> credit(std::span<const Charged> charged, Crash crash);
  // Rebuilds the memory from the disk and requests open issues of credits again. `forgetful` plants
  // a defect: they are requested with another key.
  [[nodiscard]] Result<> restart(bool forgetful);

  // Runs a job of the client with one task for each worker, paid with all its free credits.
  [[nodiscard]] Result<> work(const PublicKey& client, std::span<const PublicKey> workers,
                              double units);
  // Settles all free credits of the owner if they are at least one credit.
  [[nodiscard]] Result<> settle(const PublicKey& owner);
  [[nodiscard]] Result<settlement::EpochRows> rows(std::span<const solana::Earned> previous,
                                                   const settlement::EpochFunds& funds) const;

  [[nodiscard]] const LedgerSums& sums();

 private:
  struct Written {  // One row that was written to the store.
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
  // The part of the state that is on the disk.
  std::vector<Written> store_;
  std::optional<CreditJournal> journal_;
  std::uint64_t numbers_ = 0;  // Number for jobs and settlings, in place of a nonce.
  // The part of the state that is in memory.
  ledger::Ledger ledger_;
  settlement::Charges charges_;
  settlement::WorkUnits units_;
  std::optional<LedgerSums> sums_;
};

}  // namespace weft::cli
