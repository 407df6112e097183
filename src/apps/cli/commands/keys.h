// `weft key` and `weft stake`: the API keys with which others use a wallet's credits, and the
// wallet's stake.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct KeyOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Wallet file; empty: the default wallet.
  std::filesystem::path data;    // The coordinator's data folder, which has the operator's wallet.
  std::string name;              // Name for `key add`; the id for `key revoke`.
  std::uint32_t requests_per_min = 0;
  std::uint32_t tokens_per_min = 0;
  std::uint64_t tokens = 0;
  double credits = 0;
  double give = 0;
  bool stays_here = false;  // No fallback endpoint answers requests of the key.
  bool json = false;
};
[[nodiscard]] int key_add_command(const KeyOptions& options);
[[nodiscard]] int key_list_command(const KeyOptions& options);
[[nodiscard]] int key_revoke_command(const KeyOptions& options);

struct StakeOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;
  double credits = 0;
  bool json = false;
};
[[nodiscard]] int stake_deposit_command(const StakeOptions& options);
[[nodiscard]] int stake_withdraw_command(const StakeOptions& options);
[[nodiscard]] int stake_show_command(const StakeOptions& options);

}  // namespace weft::cli
