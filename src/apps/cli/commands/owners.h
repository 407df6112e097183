// `weft pay`, `weft device`, `weft wallet redeem`, `statement`, `data` and `forget`: an owner's
// balances, devices and stored data.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct OwnerOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Wallet file; empty: the default wallet.
  std::filesystem::path data;  // pay --issue: the coordinator's data folder, which has its wallet.
  std::string key;             // The key to pay, the device to revoke, or the owner to join.
  double credits = 0;
  bool issue = false;
  bool recovery = false;
  // Output of `device request` for `device add`; an invitation for `wallet redeem`.
  std::string code;
  std::string name;
  bool csv = false;
  bool yes = false;  // Makes `wallet forget` delete without asking.
  bool json = false;
};

[[nodiscard]] int pay_command(const OwnerOptions& options);
[[nodiscard]] int device_request_command(const OwnerOptions& options);
[[nodiscard]] int device_add_command(const OwnerOptions& options);
[[nodiscard]] int device_list_command(const OwnerOptions& options);
[[nodiscard]] int device_revoke_command(const OwnerOptions& options);
[[nodiscard]] int redeem_command(const OwnerOptions& options);
[[nodiscard]] int statement_command(const OwnerOptions& options);
[[nodiscard]] int owner_data_command(const OwnerOptions& options);
[[nodiscard]] int forget_command(const OwnerOptions& options);

}  // namespace weft::cli
