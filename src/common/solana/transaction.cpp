#include "common/solana/transaction.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::solana {
namespace {

constexpr std::uint8_t version_bit = 0x80;

Result<ByteSpan> read_bytes(ByteSpan& bytes, std::size_t count) {
  if (bytes.size() < count)
    return fail(ErrorCode::invalid_argument,
                "The transaction ends {} bytes before the end of a field of {} bytes.",
                count - bytes.size(), count);
  const ByteSpan out = bytes.first(count);
  bytes = bytes.subspan(count);
  return out;
}
Result<std::uint8_t> read_byte(ByteSpan& bytes) {
  WEFT_ASSIGN(const ByteSpan one, read_bytes(bytes, 1));
  return one[0];
}
template <class Fixed>
Result<Fixed> read_fixed(ByteSpan& bytes) {
  WEFT_ASSIGN(const ByteSpan part, read_bytes(bytes, Fixed::size));
  Fixed out;
  std::ranges::copy(part, out.bytes.begin());
  return out;
}
Result<ByteVector> read_counted(ByteSpan& bytes) {
  WEFT_ASSIGN(const std::uint16_t count, read_compact_u16(bytes));
  WEFT_ASSIGN(const ByteSpan part, read_bytes(bytes, count));
  return ByteVector(part.begin(), part.end());
}
void append_counted(ByteVector& out, ByteSpan part) {
  append_compact_u16(out, static_cast<std::uint16_t>(part.size()));
  append(out, part);
}

// Checks that every index names a key, and that programs are keys of the message itself and not its
// payer.
Result<> check_indices(const Message& message) {
  std::size_t count = message.keys.size();
  for (const TableUse& table : message.tables)
    count += table.writable.size() + table.read_only.size();
  if (count > keys_max)
    return fail(ErrorCode::invalid_argument, "The message names {} keys; at most {} are allowed.",
                count, keys_max);
  if (message.signers == 0 || message.read_only_signers >= message.signers ||
      std::size_t{message.signers} + message.read_only_others > message.keys.size())
    return fail(ErrorCode::invalid_argument,
                "The message has {} keys, {} signers, {} of them read-only, and {} other read-only "
                "keys; these numbers contradict one another.",
                message.keys.size(), message.signers, message.read_only_signers,
                message.read_only_others);
  for (const CompiledInstruction& one : message.instructions) {
    if (one.program == 0 || one.program >= message.keys.size())
      return fail(ErrorCode::invalid_argument,
                  "An instruction's program has the index {}, which is not valid among {} keys.",
                  one.program, message.keys.size());
    for (const std::uint8_t account : one.accounts)
      if (account >= count)
        return fail(ErrorCode::invalid_argument,
                    "An instruction's account has the index {}, which is not valid among {} keys.",
                    account, count);
  }
  return {};
}

Result<Message> read_message(ByteSpan& bytes) {
  Message out;
  WEFT_ASSIGN(std::uint8_t first, read_byte(bytes));
  if ((first & version_bit) != 0) {
    if (first != version_bit)
      return fail(ErrorCode::unsupported,
                  "The message has version {}; only version 0 is supported.", first & ~version_bit);
    out.version = MessageVersion::v0;
    WEFT_ASSIGN(first, read_byte(bytes));
  }
  out.signers = first;
  WEFT_ASSIGN(out.read_only_signers, read_byte(bytes));
  WEFT_ASSIGN(out.read_only_others, read_byte(bytes));
  WEFT_ASSIGN(const std::uint16_t keys, read_compact_u16(bytes));
  for (std::uint16_t i = 0; i < keys; ++i) {
    WEFT_ASSIGN(out.keys.emplace_back(), read_fixed<PublicKey>(bytes));
  }
  WEFT_ASSIGN(out.blockhash, read_fixed<Hash>(bytes));
  WEFT_ASSIGN(const std::uint16_t instructions, read_compact_u16(bytes));
  for (std::uint16_t i = 0; i < instructions; ++i) {
    CompiledInstruction one;
    WEFT_ASSIGN(one.program, read_byte(bytes));
    WEFT_ASSIGN(one.accounts, read_counted(bytes));
    WEFT_ASSIGN(one.data, read_counted(bytes));
    out.instructions.push_back(std::move(one));
  }
  if (out.version == MessageVersion::v0) {
    WEFT_ASSIGN(const std::uint16_t tables, read_compact_u16(bytes));
    for (std::uint16_t i = 0; i < tables; ++i) {
      TableUse one;
      WEFT_ASSIGN(one.table, read_fixed<PublicKey>(bytes));
      WEFT_ASSIGN(one.writable, read_counted(bytes));
      WEFT_ASSIGN(one.read_only, read_counted(bytes));
      out.tables.push_back(std::move(one));
    }
  }
  WEFT_OK(check_indices(out));
  return out;
}

Result<> check_end(ByteSpan rest, std::size_t size) {
  if (size > transaction_bytes_max)
    return fail(ErrorCode::invalid_argument, "A transaction has {} bytes; at most {} are allowed.",
                size, transaction_bytes_max);
  if (!rest.empty())
    return fail(ErrorCode::invalid_argument, "{} bytes follow the end of the message.",
                rest.size());
  return {};
}

}  // namespace

void append_compact_u16(ByteVector& out, std::uint16_t value) {
  for (; value >= 0x80; value = static_cast<std::uint16_t>(value >> 7))
    out.push_back(static_cast<std::uint8_t>(0x80 | (value & 0x7f)));
  out.push_back(static_cast<std::uint8_t>(value));
}

Result<std::uint16_t> read_compact_u16(ByteSpan& bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 3; ++i) {
    WEFT_ASSIGN(const std::uint8_t byte, read_byte(bytes));
    value |= (byte & 0x7fU) << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    if (value > 0xffff || (i > 0 && byte == 0)) break;
    return static_cast<std::uint16_t>(value);
  }
  return fail(ErrorCode::invalid_argument,
              "A compact length is above 65,535 or longer than it needs to be.");
}

ByteVector encode(const Message& message) {
  ByteVector out;
  if (message.version == MessageVersion::v0) out.push_back(version_bit);
  out.insert(out.end(), {message.signers, message.read_only_signers, message.read_only_others});
  append_compact_u16(out, static_cast<std::uint16_t>(message.keys.size()));
  for (const PublicKey& key : message.keys) append(out, key.bytes);
  append(out, message.blockhash.bytes);
  append_compact_u16(out, static_cast<std::uint16_t>(message.instructions.size()));
  for (const CompiledInstruction& one : message.instructions) {
    out.push_back(one.program);
    append_counted(out, one.accounts);
    append_counted(out, one.data);
  }
  if (message.version == MessageVersion::v0) {
    append_compact_u16(out, static_cast<std::uint16_t>(message.tables.size()));
    for (const TableUse& table : message.tables) {
      append(out, table.table.bytes);
      append_counted(out, table.writable);
      append_counted(out, table.read_only);
    }
  }
  return out;
}

Result<Message> decode_message(ByteSpan bytes) {
  const std::size_t size = bytes.size();
  WEFT_ASSIGN(Message out, read_message(bytes));
  WEFT_OK(check_end(bytes, size));
  return out;
}

ByteVector encode(const Transaction& transaction) {
  ByteVector out;
  append_compact_u16(out, static_cast<std::uint16_t>(transaction.signatures.size()));
  for (const Signature& one : transaction.signatures) append(out, one.bytes);
  append(out, encode(transaction.message));
  return out;
}

Result<Transaction> decode_transaction(ByteSpan bytes) {
  const std::size_t size = bytes.size();
  Transaction out;
  WEFT_ASSIGN(const std::uint16_t count, read_compact_u16(bytes));
  for (std::uint16_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(out.signatures.emplace_back(), read_fixed<Signature>(bytes));
  }
  WEFT_ASSIGN(out.message, read_message(bytes));
  if (count != out.message.signers)
    return fail(ErrorCode::invalid_argument, "The transaction has {} signatures for {} signers.",
                count, out.message.signers);
  WEFT_OK(check_end(bytes, size));
  return out;
}

}  // namespace weft::solana
