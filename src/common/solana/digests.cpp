#include "common/solana/digests.h"

#include "common/crypto/sha256.h"

namespace weft::solana {
namespace {

Hash placed_digest(std::string_view word, const SigningPlace& place, ByteSpan fields) {
  return crypto::Sha256()
      .update(as_bytes(word))
      .update(place.genesis.span())
      .update(place.program.span())
      .update(place.config.span())
      .update(fields)
      .finish();
}

}  // namespace

Hash voucher_digest(const SigningPlace& place, const PublicKey& owner, std::uint64_t cumulative) {
  ByteVector fields(owner.bytes.begin(), owner.bytes.end());
  append_le(fields, cumulative);
  return placed_digest("weft-voucher-1", place, fields);
}

Hash statement_digest(const SigningPlace& place, const EarningStatement& statement) {
  ByteVector fields(statement.owner.bytes.begin(), statement.owner.bytes.end());
  append_le(fields, statement.epoch);
  append_le(fields, statement.amount);
  append_le(fields, statement.units);
  return placed_digest("weft-statement-1", place, fields);
}

Hash receipt_digest(const SigningPlace& place, const ReceiptParts& parts) {
  // The program's layout of receipts has the coordinator's key in the place of the config.
  return crypto::Sha256()
      .update(as_bytes(std::string_view("weft-receipt-2")))
      .update(place.genesis.span())
      .update(place.program.span())
      .update(parts.coordinator.span())
      .update(parts.session.span())
      .update(parts.worker.span())
      .update(parts.root.span())
      .finish();
}

}  // namespace weft::solana
