// Transactions of Solana, legacy and version 0: from instructions to the bytes that are signed and
// sent, and back.
//
// transaction = compact-u16 n, n signatures of 64 bytes, message. message = [0x80 for version 0] u8
// signers, u8 read-only signers, u8 read-only others, compact-u16 keys, keys, blockhash,
// compact-u16 instructions, instructions, [compact-u16 lookup tables, tables]. The keys are in the
// order payer, writable signers, read-only signers, writable others, read-only others; within a
// class in the order of @solana/kit 8.4, so that both libraries make the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::solana {

// The size of one packet of the network.
inline constexpr std::size_t transaction_bytes_max = 1232;
inline constexpr std::size_t keys_max = 256;  // An instruction names a key by one byte.

// Appends the number with 7 bits a byte, lowest first; the high bit says that another byte follows.
// Each number has one form.
void append_compact_u16(ByteVector& out, std::uint16_t value);
// Reads a number at the start of `bytes` and moves `bytes` past it. Fails with invalid_argument if
// the number is cut, longer than it needs to be, or too large.
[[nodiscard]] Result<std::uint16_t> read_compact_u16(ByteSpan& bytes);

struct AccountUse {
  PublicKey key;
  bool signer = false;
  bool writable = false;
};
struct Instruction {
  PublicKey program;
  std::vector<AccountUse> accounts = {};
  ByteVector data = {};
};

// An account on the chain that lists keys; a version 0 message names these keys by one byte each.
struct LookupTable {
  PublicKey address;
  std::vector<PublicKey> keys;
};

enum class MessageVersion : std::uint8_t { legacy, v0 };

struct CompiledInstruction {
  std::uint8_t program = 0;
  std::vector<std::uint8_t> accounts = {};
  ByteVector data = {};
  friend bool operator==(const CompiledInstruction&, const CompiledInstruction&) = default;
};
struct TableUse {
  PublicKey table;
  std::vector<std::uint8_t> writable = {};
  std::vector<std::uint8_t> read_only = {};
  friend bool operator==(const TableUse&, const TableUse&) = default;
};
struct Message {
  MessageVersion version = MessageVersion::legacy;
  std::uint8_t signers = 0;
  std::uint8_t read_only_signers = 0;
  std::uint8_t read_only_others = 0;
  std::vector<PublicKey> keys = {};
  Hash blockhash;
  std::vector<CompiledInstruction> instructions = {};
  std::vector<TableUse> tables = {};  // Lookup tables, which only version 0 has.
  friend bool operator==(const Message&, const Message&) = default;
};

struct MessagePlan {
  PublicKey payer;
  std::span<const Instruction> instructions;
  Hash blockhash;
  MessageVersion version = MessageVersion::legacy;
  std::span<const LookupTable> tables = {};
};
// Compiles a message. Fails with invalid_argument if a program is writable or pays, if tables come
// with a legacy message, or if there are too many keys.
[[nodiscard]] Result<Message> compile(const MessagePlan& plan);

[[nodiscard]] ByteVector encode(const Message& message);
// Decodes a message. Accepts exactly the output of encode(); every index must name a key.
[[nodiscard]] Result<Message> decode_message(ByteSpan bytes);

struct Transaction {
  std::vector<Signature> signatures = {};  // Signatures in the order of the message's first keys.
  Message message;
};
[[nodiscard]] ByteVector encode(const Transaction& transaction);
[[nodiscard]] Result<Transaction> decode_transaction(ByteSpan bytes);

}  // namespace weft::solana
