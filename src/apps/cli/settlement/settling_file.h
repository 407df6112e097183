// A settling that was asked for and not answered yet, kept beside the wallet as WALLET.settling.
// Nothing takes back what is settled, and the ledger settles once for a nonce: a command that is
// run again after a crash or a lost answer asks for the same settling, and not for a second one.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/crypto/ordered_id.h"

namespace weft::cli {

struct OpenSettling {
  PublicKey coordinator;
  std::uint64_t amount = 0;
  std::array<std::uint8_t, crypto::ordered_id_bytes> nonce{};
  friend bool operator==(const OpenSettling&, const OpenSettling&) = default;
};

class SettlingFile {
 public:
  // That of a wallet file; empty: of the default wallet.
  [[nodiscard]] static Result<SettlingFile> of(const std::filesystem::path& wallet);

  // nullopt if there is none; data_loss if the file is something else.
  [[nodiscard]] Result<std::optional<OpenSettling>> read() const;
  // The settling to ask for now: the open one if it is of this coordinator and amount, else a new
  // one, which is on the disk. unavailable if another one is open.
  [[nodiscard]] Result<OpenSettling> begin(const PublicKey& coordinator,
                                           std::uint64_t amount) const;
  // It was answered.
  void remove() const;
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  explicit SettlingFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace weft::cli
