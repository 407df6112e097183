// The file WALLET.sent beside a wallet: the transaction that the wallet has signed and whose end is
// not known. A command that is run again after a crash follows the transaction in the file instead
// of signing a second one for the same purpose.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "platform/chain/sender.h"

namespace weft::cli {

struct SentRecord {
  PublicKey program;  // The program (that is, the network) of the transaction.
  std::string what;   // The command's description, on one line.
  chain::SignedTransaction transaction;
};

class SentFile {
 public:
  // The file of a wallet; an empty path is the default wallet.
  [[nodiscard]] static Result<SentFile> of(const std::filesystem::path& wallet);

  // Returns nullopt if there is no file. Fails with data_loss if the file has another form.
  [[nodiscard]] Result<std::optional<SentRecord>> read() const;
  // The record is on the disk when this returns.
  [[nodiscard]] Result<> write(const SentRecord& record) const;
  void remove() const;
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  explicit SentFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace weft::cli
