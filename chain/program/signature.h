// Signatures over messages of the program. The transaction carries an Ed25519 instruction directly
// before this one, which the runtime checks. The program then reads which bytes were signed, and by
// which key. Every message is a SHA-256 digest of a word that names its kind, the cluster's genesis
// hash, the program, the config and the message's own fields.
#pragma once

#include "calls.h"

struct Signed {
  const Key* key;
  const Key* digest;
};

// The offsets of a signature in the Ed25519 instruction, as the runtime reads them.
struct SignatureOffsets {
  u16 signature, signature_instruction, key, key_instruction, message, message_size,
      message_instruction;
};

// Checks that the instruction before this one has exactly `count` signatures, and that they are
// those of `expected`.
FAR u64 require_signatures(const Account& instructions, const Signed* expected, u64 count) {
  const u8* data = instructions.data;
  const u16 current = load<u16>(data + instructions.size - 2);
  REQUIRE(shared_signature_before, current > 0);
  const u8* before = data + load<u16>(data + 2 + 2 * u64(current == 0 ? 0 : current - 1));
  const u16 account_count = load<u16>(before);
  before += 2 + 33 * u64(account_count);
  REQUIRE(shared_signature_program, same(key_at(before), ed25519_program_key));
  const u16 size = load<u16>(before + 32);
  const u8* body = before + 34;
  REQUIRE(shared_signature_count, size >= 2 + sizeof(SignatureOffsets) * count && body[0] == count);
  for (u64 i = 0; i < count; ++i) {
    const auto& at =
        *reinterpret_cast<const SignatureOffsets*>(body + 2 + sizeof(SignatureOffsets) * i);
    REQUIRE(shared_signature_inside, at.signature_instruction == 0xffff &&
                                         at.key_instruction == 0xffff &&
                                         at.message_instruction == 0xffff);
    REQUIRE(shared_signature_key, same(key_at(body + at.key), *expected[i].key));
    REQUIRE(shared_signature_message,
            at.message_size == 32 && same(key_at(body + at.message), *expected[i].digest));
  }
  return 0;
}

struct Message {
  const char* word;
  u64 word_size;
  const u8* fields;
  u64 size;
};
FAR void digest_of(const Context& c, const Account& config, const Message& message, Key& out) {
  const Slice slices[5] = {{message.word, message.word_size},
                           {&config.as<Config>().genesis, 32},
                           {c.program, 32},
                           {config.key, 32},
                           {message.fields, message.size}};
  sol_sha256(slices, 5, reinterpret_cast<u8*>(&out));
}
