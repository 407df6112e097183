#include "apps/cli/wallet.h"

#include <cstdio>
#include <format>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/wallet_choice.h"
#include "common/crypto/wallet.h"

namespace weft::cli {
namespace {

Result<std::string> create(const WalletOptions& options) {
  std::filesystem::path path = options.file;
  if (path.empty()) {
    WEFT_ASSIGN(path, crypto::default_wallet_path());
  }
  WEFT_ASSIGN(const crypto::KeyPair wallet, crypto::create_wallet(path));
  if (options.json) return std::format("{{\"key\":\"{}\",\"file\":\"{}\"}}\n", wallet.public_key().text(), path.string());
  return std::format("{}\nKept in {}. Whoever has this file has the credits: keep a copy.\n", wallet.public_key().text(), path.string());
}

Result<std::string> show(const WalletOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.file));
  const std::string key = wallet.public_key().text();
  if (options.coordinator.empty()) {
    return options.json ? std::format("{{\"key\":\"{}\"}}\n", key) : key + "\n";
  }
  WEFT_ASSIGN(const auto api, ApiClient::create({.url = options.coordinator, .tls = options.tls, .patience = std::chrono::milliseconds(0)}));
  WEFT_ASSIGN(const auto earned, api->account("worker:" + key));
  WEFT_ASSIGN(const auto to_spend, api->account("client:" + key));
  if (options.json) {
    return std::format("{{\"key\":\"{}\",\"earned_micro_credits\":{},\"to_spend_micro_credits\":{}}}\n", key, earned.amount, to_spend.amount);
  }
  return std::format("{}\nearned as a worker   {:.6f} credits\nto spend as a client {:.6f} credits\n", key, static_cast<double>(earned.amount) * 1e-6,
                     static_cast<double>(to_spend.amount) * 1e-6);
}

int print(const char* command, const Result<std::string>& text) {
  if (!text) return report(command, text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

int wallet_new_command(const WalletOptions& options) { return print("wallet new", create(options)); }
int wallet_show_command(const WalletOptions& options) { return print("wallet show", show(options)); }

}  // namespace weft::cli
