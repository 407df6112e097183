// Fuzzes Solana's bytes. Transactions, base58 text, compact lengths and the published rows of an
// epoch are refused or have only one form. Accounts of the program are read or refused.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/solana/owner_rows.h"
#include "common/solana/program.h"
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
  if (const auto key = PublicKey::parse(as_text(bytes)))
    check(key->text() == as_text(bytes), "a key has one form");
  if (const auto signature = Signature::parse(as_text(bytes)))
    check(signature->text() == as_text(bytes), "a signature has one form");
  (void)Hash::parse(as_text(bytes));
  (void)JobId::parse(as_text(bytes));
  (void)TaskId::parse(as_text(bytes));
  if (const auto rows = solana::parse_owner_rows(as_text(bytes))) {
    const auto again = solana::parse_owner_rows(solana::owner_rows_text(*rows));
    check(again && !solana::first_difference(*rows, *again), "rows come back");
  }
  for (const solana::StateLayout& layout : solana::state_layouts()) {
    const auto state = solana::ProgramState::read(layout.name, ByteVector(data, data + size));
    if (!state) continue;
    for (const solana::Field& field : layout.fields) {
      if (field.type == solana::FieldType::key) {
        (void)state->key(field.name, field.count - 1);
      } else if (field.count == 1) {
        (void)state->number(field.name);
      }
    }
  }
  return 0;
}
