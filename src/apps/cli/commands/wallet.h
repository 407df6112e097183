// `weft wallet new|show`: the key with which this machine earns and pays.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct WalletOptions {
  std::filesystem::path file;  // Wallet file; empty: the default wallet.
  std::string coordinator;     // show: also asks this coordinator for the balances.
  net::TlsOptions tls;
  bool json = false;
};

[[nodiscard]] int wallet_new_command(const WalletOptions& options);
[[nodiscard]] int wallet_show_command(const WalletOptions& options);

}  // namespace weft::cli
