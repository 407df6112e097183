#include "common/proof/receipt.h"

#include "common/base/byte_reader.h"
#include "common/crypto/sha256.h"
#include "common/proof/claim_tree.h"

namespace weft::proof {
namespace {

constexpr std::string_view receipt_word = "weft-receipt-2";
constexpr std::string_view claims_word = "weft-claims-2";
constexpr std::size_t claim_bytes =
    JobId::size + 2 * sizeof(std::uint32_t) + Hash::size + 2 * sizeof(std::uint32_t);

}  // namespace

ByteVector receipt_statement(const ReceiptPlace& place, std::span<const Claim> claims) {
  ByteVector message;
  append(message, as_bytes(receipt_word));
  append(message, place.genesis.span());
  append(message, place.program.span());
  append(message, place.coordinator.span());
  append(message, place.session.span());
  append(message, place.worker.span());
  append(message, root_of_claims(claims).span());
  return message;
}

Hash receipt_digest(const ReceiptPlace& place, std::span<const Claim> claims) {
  return crypto::sha256(receipt_statement(place, claims));
}

ByteVector claims_text(std::span<const Claim> claims) {
  ByteVector out;
  append(out, as_bytes(claims_word));
  append_le(out, static_cast<std::uint32_t>(claims.size()));
  for (const Claim& claim : claims) append_claim(out, claim);
  return out;
}

Result<KeptReceipt> read_receipt(ByteSpan statement, ByteSpan claims) {
  KeptReceipt out;
  ByteReader in(statement);
  const bool is_receipt = as_text(in.take(receipt_word.size())) == receipt_word;
  out.place.genesis = in.fixed<Hash>();
  out.place.program = in.fixed<PublicKey>();
  out.place.coordinator = in.fixed<PublicKey>();
  out.place.session = in.fixed<Hash>();
  out.place.worker = in.fixed<Hash>();
  const Hash root = in.fixed<Hash>();
  if (!is_receipt || !in.at_end())
    return fail(ErrorCode::data_loss, "{} bytes are not a valid statement of a receipt.",
                statement.size());
  ByteReader list(claims);
  bool is_list = as_text(list.take(claims_word.size())) == claims_word;
  for (std::size_t left = list.count(claim_bytes); left > 0; --left) {
    Claim& claim = out.claims.emplace_back();
    claim.task.job = list.fixed<JobId>();
    claim.task.index = list.integer<std::uint32_t>();
    claim.attempt = list.integer<std::uint32_t>();
    claim.root = list.fixed<Hash>();
    claim.first = list.integer<std::uint32_t>();
    claim.count = list.integer<std::uint32_t>();
    // A claim for a whole task must have the first workgroup 0, because the signature does not
    // cover the field in that case.
    is_list = is_list && (!claim.whole() || claim.first == 0);
  }
  if (!is_list || !list.at_end() || root_of_claims(out.claims) != root)
    return fail(ErrorCode::data_loss, "The claims are not the ones that the receipt signs.");
  return out;
}

}  // namespace weft::proof
