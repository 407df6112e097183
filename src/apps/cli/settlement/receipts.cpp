// Devices and their receipts: `weft chain device`, `weft chain receipt record` and `close`.
#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/wallet_choice.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

Result<> device(const SettlementOptions& options) {
  WEFT_ASSIGN(const PublicKey key, parse_key(options.target, "a device"));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  const PublicKey address = own.line.network.device(own.own(), key);
  if (options.finish) {
    solana::ProgramCall call = own.line.call("end_device");
    call.key("owner", own.own()).key("device", address);
    return call_once(
        options, own, call,
        {.what = weft::format("Ends the device {}; the stake stays liable for it for {} s.",
                              key.text(), own.line.config.number("evidence_seconds"))});
  }
  WEFT_ASSIGN(const chain::Lamports rent, own.line.rent_of_state("device"));
  solana::ProgramCall call = own.line.call("add_device");
  // "device" is the name of an account and also of a field.
  call.key("owner", own.own()).key("device", address).data_key("device", key);
  return call_once(options, own, call,
                   {.what = weft::format(
                        "Names the device {}, for whose receipts the stake is liable.", key.text()),
                    .rent = rent});
}

PublicKey key_of(const Hash& hash) {
  PublicKey out;
  out.bytes = hash.bytes;
  return out;
}

Result<> record(const SettlementOptions& options) {
  WEFT_ASSIGN(const PublicKey owner, parse_key(options.owner, "an owner"));
  solana::ReceiptParts parts;
  WEFT_ASSIGN(parts.session, Hash::parse(options.session));
  WEFT_ASSIGN(parts.worker, Hash::parse(options.worker));
  WEFT_ASSIGN(parts.root, Hash::parse(options.root));
  WEFT_ASSIGN(const PublicKey device_key, parse_key(options.target, "a device"));
  WEFT_ASSIGN(const Signature signature, Signature::parse(options.word));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  parts.coordinator = own.line.config.key("coordinator");
  const Hash digest = solana::receipt_digest(own.line.signing_place(), parts);
  if (!crypto::verify_now(device_key, digest.span(), signature))
    return fail(ErrorCode::invalid_argument,
                "The receipt is not signed by {} for this network and its coordinator.",
                device_key.text());
  WEFT_ASSIGN(const chain::Lamports rent, own.line.rent_of_state("receipt"));
  const PublicKey address = own.line.network.receipt(digest);
  solana::ProgramCall call = own.line.call("record_receipt");
  call.key("payer", own.own())
      .key("device", own.line.network.device(owner, device_key))
      .key("receipt", address)
      .data_key("session", key_of(parts.session))
      .data_key("worker", key_of(parts.worker))
      .data_key("root", key_of(parts.root));
  const solana::SignedDigest proof{.key = device_key, .signature = signature, .digest = digest};
  return call_once(
      options, own, call,
      {.what = weft::format("Records a receipt of {}; `receipt close` returns the rent.",
                            device_key.text()),
       .rent = rent,
       .before = {solana::check_signatures({&proof, 1})},
       .extra = weft::format(R"("receipt":"{}")", address.text())});
}

Result<> close_receipt(const SettlementOptions& options) {
  WEFT_ASSIGN(const PublicKey address, parse_key(options.target, "a receipt's account"));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(const auto there, own.line.state("receipt", address));
  if (!there)
    return fail(ErrorCode::not_found,
                "No receipt is recorded at {}; `weft chain receipt list` "
                "names those that are.",
                address.text());
  solana::ProgramCall call = own.line.call("close_receipt");
  call.key("payer", own.own()).key("receipt", address);
  return call_once(options, own, call, {.what = "Closes the receipt and takes its rent back."});
}

int receipts_done(const char* command, const Result<>& done) {
  return done ? 0 : report(command, done.error());
}

}  // namespace

int chain_device_command(const SettlementOptions& options) {
  return receipts_done("chain device", device(options));
}
int chain_receipt_command(const SettlementOptions& options) {
  return receipts_done("chain receipt record", record(options));
}
int chain_close_receipt_command(const SettlementOptions& options) {
  return receipts_done("chain receipt close", close_receipt(options));
}

}  // namespace weft::cli
