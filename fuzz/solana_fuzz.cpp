// Bytes that claim to be a Solana transaction are refused or have one form; base58 text and compact
// lengths as well.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/solana/transaction.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(data, size);
  if (const auto transaction = solana::decode_transaction(bytes)) {
    const ByteVector again = solana::encode(*transaction);
    check(as_text(again) == as_text(bytes), "a transaction has one form");
  }
  if (const auto message = solana::decode_message(bytes)) {
    const ByteVector again = solana::encode(*message);
    check(as_text(again) == as_text(bytes), "a message has one form");
  }
  ByteSpan rest = bytes;
  if (const auto length = solana::read_compact_u16(rest)) {
    ByteVector again;
    solana::append_compact_u16(again, *length);
    check(
        again.size() == size - rest.size() && as_text(again) == as_text(bytes.first(again.size())),
        "a compact length has one form");
  }
  if (const auto decoded = from_base58(as_text(bytes)))
    check(to_base58(*decoded) == as_text(bytes), "base58 text has one form");
  return 0;
}
