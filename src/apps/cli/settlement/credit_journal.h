// The journal of `weft chain credit` as rows. Its first line names its network and coordinator.
//
// Threading: one thread. One process at a time has the file open.
#pragma once

#include <filesystem>
#include <vector>

#include "apps/cli/settlement/journal_file.h"
#include "common/base/result.h"
#include "decisions/settlement/charges.h"

namespace weft::cli {

class CreditJournal {
 public:
  struct Place {
    PublicKey config;
    PublicKey coordinator;
  };
  // Fails with the errors of JournalFile::open(), and with data_loss if a line is no row.
  [[nodiscard]] static Result<CreditJournal> open(const std::filesystem::path& path,
                                                  const Place& place);

  [[nodiscard]] const std::vector<settlement::JournalRow>& rows() const { return rows_; }
  // The row is on the disk when this returns.
  [[nodiscard]] Result<> append(const settlement::JournalRow& row);

 private:
  explicit CreditJournal(JournalFile file) : file_(std::move(file)) {}
  JournalFile file_;
  std::vector<settlement::JournalRow> rows_;
};

}  // namespace weft::cli
