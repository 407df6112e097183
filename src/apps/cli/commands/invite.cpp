#include "apps/cli/commands/invite.h"

#include <cstdio>

#include "apps/cli/commands/serve.h"
#include "apps/cli/exit_code.h"
#include "common/base/clock.h"
#include "common/crypto/wallet.h"

namespace weft::cli {

Result<std::string> invitation(const InviteOptions& options) {
  std::filesystem::path data = options.data;
  if (data.empty()) {
    WEFT_ASSIGN(data, default_data_folder());
  }
  PublicKey wallet{};
  if (!options.wallet.empty()) {
    const auto parsed = PublicKey::parse(options.wallet);
    if (!parsed)
      return fail(ErrorCode::invalid_argument, "--for {} is not an address of a wallet.",
                  options.wallet);
    wallet = *parsed;
  }
  const auto key = data / "coordinator.json";
  std::error_code ignored;
  if (!std::filesystem::exists(key, ignored))
    return fail(ErrorCode::not_found,
                "The coordinator's key file {} does not exist: give the coordinator's data folder "
                "with --data.",
                key.string());
  WEFT_ASSIGN(const crypto::KeyPair coordinator, crypto::load_wallet(key));
  constexpr UnixMillis day = 24LL * 3600 * 1000;
  return crypto::write_invitation(
      coordinator,
      {.kind = options.kind, .until = unix_now() + options.days * day, .wallet = wallet});
}

int invite_command(const InviteOptions& options) {
  const auto text = invitation(options);
  if (!text) return report("invite", text.error());
  std::printf("%s\n", text->c_str());
  return 0;
}

}  // namespace weft::cli
