// `weft chain statement`: the coordinator signs the amount of an owner in an epoch's rows before
// their root is posted. With this statement any account can void a root of this or a later epoch
// that gives the owner less (`weft chain challenge statement`).
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/settlement/epochs.h"

namespace weft::cli {
namespace {

Result<> statement(const SettlementOptions& options) {
  WEFT_ASSIGN(const PublicKey owner, parse_key(options.owner, "an owner"));
  WEFT_ASSIGN(auto rows, epoch_rows(options.rows));
  WEFT_ASSIGN(const solana::SumTree tree, solana::SumTree::create(std::move(rows)));
  WEFT_ASSIGN(const std::uint32_t position, tree.position(owner));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  const PublicKey coordinator = own.line.config.key("coordinator");
  if (own.own() != coordinator)
    return fail(ErrorCode::permission_denied,
                "The coordinator of this network is {}, not {}: only statements of the coordinator "
                "are valid.",
                coordinator.text(), own.own().text());
  const solana::Earned& row = tree.owners()[position];
  const Hash digest = solana::statement_digest(
      own.line.signing_place(),
      {.owner = owner, .epoch = options.number, .amount = row.amount, .units = row.units});
  std::printf("%s\n",
              weft::format(R"({{"owner":"{}","epoch":{},"amount":{},"units":{},"signature":"{}"}})",
                           owner.text(), options.number, row.amount, row.units,
                           own.wallet.sign_now(digest.span()).text())
                  .c_str());
  return {};
}

}  // namespace

int chain_sign_statement_command(const SettlementOptions& options) {
  const auto done = statement(options);
  return done ? 0 : report("chain statement", done.error());
}

}  // namespace weft::cli
