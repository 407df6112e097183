// The file WALLET.settling beside a wallet: a settlement of earnings that was requested and not
// answered yet. Settled earnings cannot be taken back, and the ledger settles once for a nonce: a
// command that is run again after a crash or a lost answer repeats the request of the file.
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
  // The file of a wallet; an empty path is the default wallet.
  [[nodiscard]] static Result<SettlingFile> of(const std::filesystem::path& wallet);

  // Returns nullopt if there is no file. Fails with data_loss if the file has another form.
  [[nodiscard]] Result<std::optional<OpenSettling>> read() const;
  // Returns the settling to request: the open one if its coordinator and amount are the given ones,
  // else a new one, which is on the disk. Fails with unavailable if another settling is open.
  [[nodiscard]] Result<OpenSettling> begin(const PublicKey& coordinator,
                                           std::uint64_t amount) const;
  // Removes the file. Called when the settling's request has been answered.
  void remove() const;
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  explicit SettlingFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace weft::cli
