#include "platform/chain/fee_bound.h"

#include <algorithm>
#include <limits>

#include "common/solana/address.h"
#include "common/solana/transaction.h"

namespace weft::chain {
namespace {

__extension__ using Wide = unsigned __int128;  // Both GCC and Clang support this type.

std::uint64_t number_at(ByteSpan bytes, std::size_t at, std::size_t size) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < size; ++i) out |= std::uint64_t{bytes[at + i]} << (8 * i);
  return out;
}

}  // namespace

Result<Lamports> fee_max(ByteSpan transaction) {
  WEFT_ASSIGN(const solana::Transaction decoded, solana::decode_transaction(transaction));
  Wide signatures = decoded.signatures.size();
  std::uint64_t limit = units_max;
  std::uint64_t price = 0;
  for (const solana::CompiledInstruction& one : decoded.message.instructions) {
    // A program is one of the message's own keys, never a key of a lookup table.
    if (one.program >= decoded.message.keys.size()) continue;
    const PublicKey& program = decoded.message.keys[one.program];
    if (program == solana::ed25519_program() && !one.data.empty()) signatures += one.data[0];
    if (program != solana::compute_budget_program()) continue;
    if (one.data.size() == 5 && one.data[0] == 2)
      limit = std::min(units_max, number_at(one.data, 1, 4));
    if (one.data.size() == 9 && one.data[0] == 3) price = number_at(one.data, 1, 8);
  }
  const Wide fee = signatures * lamports_a_signature + (Wide{limit} * price + 999'999) / 1'000'000;
  return static_cast<Lamports>(std::min(fee, Wide{std::numeric_limits<Lamports>::max()}));
}

Result<Lamports> possible_fee(const SignedTransaction& transaction, Lamports said) {
  WEFT_ASSIGN(const Lamports most, fee_max(transaction.bytes));
  if (said > most)
    return fail(ErrorCode::data_loss,
                "The node says that the transaction {} paid {} lamports, but it can have paid at "
                "most {}: the answer is refused; ask another node.",
                transaction.signature.text(), said, most);
  return said;
}

}  // namespace weft::chain
