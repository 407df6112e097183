#include "apps/cli/commands/wallet.h"

#include <cstdio>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/format.h"
#include "common/crypto/wallet.h"

namespace weft::cli {
namespace {

Result<std::string> create(const WalletOptions& options) {
  std::filesystem::path path = options.file;
  if (path.empty()) {
    WEFT_ASSIGN(path, crypto::default_wallet_path());
  }
  WEFT_ASSIGN(const crypto::KeyPair wallet, crypto::create_wallet(path));
  if (options.json)
    return weft::format("{{\"key\":\"{}\",\"file\":\"{}\"}}\n", wallet.public_key().text(),
                        path.string());
  return weft::format(
      "{}\nKept in {}. This file is enough to spend the credits: keep it safe, and keep a copy.\n",
      wallet.public_key().text(), path.string());
}

Result<std::string> show(const WalletOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.file));
  const std::string key = wallet.public_key().text();
  if (options.coordinator.empty()) {
    return options.json ? weft::format("{{\"key\":\"{}\"}}\n", key) : key + "\n";
  }
  WEFT_ASSIGN(const auto api, ApiClient::create({.url = options.coordinator,
                                                 .tls = options.tls,
                                                 .patience = std::chrono::milliseconds(0)}));
  WEFT_ASSIGN(const auto owner, api->owner(wallet));
  if (options.json) {
    return weft::format(
        "{{\"key\":\"{}\",\"free_micro_credits\":{},\"granted_micro_credits\":{}}}\n", key,
        owner.free, owner.granted);
  }
  return weft::format(
      "{}\nfree    {:.6f} credits\ngranted {:.6f} credits: spent first, never staked or "
      "transferred\n",
      key, static_cast<double>(owner.free) * 1e-6, static_cast<double>(owner.granted) * 1e-6);
}

int print(const char* command, const Result<std::string>& text) {
  if (!text) return report(command, text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

int wallet_new_command(const WalletOptions& options) {
  return print("wallet new", create(options));
}
int wallet_show_command(const WalletOptions& options) {
  return print("wallet show", show(options));
}

}  // namespace weft::cli
