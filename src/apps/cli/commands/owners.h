// `weft pay`, `weft device`, `weft wallet redeem`, `statement`, `data` and `forget`: what an owner
// has, what is held of it, and who acts for it.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct OwnerOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Empty: the default one.
  std::filesystem::path data;    // pay --issue: the coordinator's folder, which has its wallet.
  std::string key;               // Whom to pay; the device to revoke; the owner to join.
  double credits = 0;
  bool issue = false;
  bool recovery = false;
  std::string code;  // From `device request`, for `device add`; an invitation, for `wallet redeem`.
  std::string name;
  bool csv = false;
  bool yes = false;  // wallet forget.
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
