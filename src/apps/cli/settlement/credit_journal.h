// The journal of `weft chain credit`: a text file whose rows are only added, each on the disk
// before the next step. Its first line names the network and the coordinator that it is of.
//
// Threading: one thread. One process at a time has the file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "decisions/settlement/charges.h"

namespace weft::cli {

class CreditJournal {
 public:
  struct Place {
    PublicKey config;
    PublicKey coordinator;
  };
  // Makes the file where there is none. A last line that a crash cut short is taken off: what it
  // was for has not begun. unavailable where another process has it; invalid_argument where it is
  // of another network or coordinator; data_loss where a line is no row.
  [[nodiscard]] static Result<CreditJournal> open(const std::filesystem::path& path,
                                                  const Place& place);
  CreditJournal(CreditJournal&& other) noexcept;
  CreditJournal& operator=(CreditJournal&&) = delete;
  ~CreditJournal();

  [[nodiscard]] const std::vector<settlement::JournalRow>& rows() const { return rows_; }
  // On the disk when it returns.
  [[nodiscard]] Result<> append(const settlement::JournalRow& row);

 private:
  CreditJournal(int file, std::string name) : file_(file), name_(std::move(name)) {}
  [[nodiscard]] Result<> append_text(std::string_view text);
  [[nodiscard]] Result<> load(const Place& place);
  int file_;
  std::string name_;
  std::vector<settlement::JournalRow> rows_;
};

}  // namespace weft::cli
