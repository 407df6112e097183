// What a wallet has signed for the chain and not seen through, kept beside it as WALLET.sent: a
// command that is run again after a crash follows these bytes and does not sign others for the
// same.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "platform/chain/sender.h"

namespace weft::cli {

struct SentRecord {
  PublicKey program;  // Which network's program it is for.
  std::string what;   // As the command named it; without line ends.
  chain::SignedTransaction transaction;
};

class SentFile {
 public:
  // That of a wallet file; empty: of the default wallet.
  [[nodiscard]] static Result<SentFile> of(const std::filesystem::path& wallet);

  // nullopt if there is none; data_loss if the file is something else.
  [[nodiscard]] Result<std::optional<SentRecord>> read() const;
  // On the disk when it returns.
  [[nodiscard]] Result<> write(const SentRecord& record) const;
  void remove() const;
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  explicit SentFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace weft::cli
