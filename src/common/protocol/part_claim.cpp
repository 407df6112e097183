#include "common/protocol/part_claim.h"

#include <array>

#include "common/base/bytes.h"
#include "common/crypto/sha256.h"

namespace weft::protocol {

namespace {

std::array<std::uint8_t, 8> little_endian(std::uint64_t number) {
  std::array<std::uint8_t, 8> out{};
  for (auto& byte : out) {
    byte = static_cast<std::uint8_t>(number & 255U);
    number >>= 8U;
  }
  return out;
}

}  // namespace

Hash part_digest(const PartClaim& claim) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-part-1")))
      .update(claim.blob.span())
      .update(little_endian(claim.first))
      .update(little_endian(claim.total))
      .update(claim.part.span());
  return digest.finish();
}

}  // namespace weft::protocol
