// The program's replacement of a standard library: types, the calls of the virtual machine,
// accounts as the loader stores them, and numbered checks. Nothing here is writable, because the
// machine loads only code and constants.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long;
using i64 = long;
static_assert(sizeof(u64) == 8);

#define FN static inline __attribute__((always_inline))
#define FAR static __attribute__((noinline))

// Refuses the instruction with the check's number unless the condition holds. The check with the
// number WEFT_REMOVED_CHECK is omitted: chain/tests/mutants.mjs then shows the attack that
// succeeds.
#ifndef WEFT_REMOVED_CHECK
#define WEFT_REMOVED_CHECK 0
#endif
#ifdef WEFT_PATCHED_CHECK
// One program for all removed checks. The removed check's number is a constant of the program,
// which chain/tests/mutants.mjs writes into the linked bytes. The condition of a removed check is
// not computed, as in a build that omits the check.
constexpr u64 patched_mark = 0x6b63656863746677;  // "wftcheck"
inline const volatile u64 patched_check = patched_mark;
#define CHECK_STANDS(check) (patched_check != u64(Check::check))
#else
#define CHECK_STANDS(check) (u32(Check::check) != WEFT_REMOVED_CHECK)
#endif
#define REQUIRE(check, ...)                         \
  do {                                              \
    if (CHECK_STANDS(check))                        \
      if (!(__VA_ARGS__)) return u64(Check::check); \
  } while (false)
// Returns the refusal of the expression, if it refuses.
#define TRY(...)                                     \
  do {                                               \
    if (u64 refused = (__VA_ARGS__)) return refused; \
  } while (false)

// 32 bytes at any address, because the machine reads eight bytes at once without alignment.
struct Key {
  u64 words[4];
};
template <class T>
FN T load(const u8* at) {
  return *reinterpret_cast<const T*>(at);
}
template <class T>
FN void store(u8* at, T value) {
  *reinterpret_cast<T*>(at) = value;
}
FAR bool same(const Key& a, const Key& b) {
  return a.words[0] == b.words[0] && a.words[1] == b.words[1] && a.words[2] == b.words[2] &&
         a.words[3] == b.words[3];
}
FN bool is_zero(const Key& a) { return (a.words[0] | a.words[1] | a.words[2] | a.words[3]) == 0; }
FN const Key& key_at(const u8* at) { return *reinterpret_cast<const Key*>(at); }

// Structs of the virtual machine.
struct Slice {
  const void* data;
  u64 size;
};
struct Meta {
  const Key* key;
  bool writable, signer;
};
struct Call {
  const Key* program;
  const Meta* accounts;
  u64 account_count;
  const u8* data;
  u64 size;
};
struct Seeds {
  const Slice* slices;
  u64 count;
};
struct Clock {
  u64 slot;
  i64 epoch_start;
  u64 epoch, leader_epoch;
  i64 unix_time;
};
struct Rent {
  u64 lamports_per_byte;
  u64 threshold_bits;  // An IEEE double; 1.0 or 2.0.
  u64 burn_percent;
};
struct Account {
  const Key* key;
  u64* lamports;
  u64 size;
  u8* data;
  const Key* owner;
  u64 rent_epoch;
  bool signer, writable, executable;

  template <class T>
  T& as() const {
    return *reinterpret_cast<T*>(data);
  }
  const Key& token_mint() const { return key_at(data); }
  const Key& token_owner() const { return key_at(data + 32); }
  u64 token_amount() const { return load<u64>(data + 64); }
};

extern "C" {
u64 sol_invoke_signed_c(const Call*, const Account*, u64, const Seeds*, u64);
u64 sol_try_find_program_address(const Slice*, u64, const Key*, Key*, u8*);
u64 sol_create_program_address(const Slice*, u64, const Key*, Key*);
u64 sol_sha256(const Slice*, u64, u8*);
u64 sol_get_clock_sysvar(Clock*);
u64 sol_get_rent_sysvar(Rent*);
u64 sol_memcpy_(void*, const void*, u64);
u64 sol_memset_(void*, u8, u64);
}
constexpr u64 accounts_max = 14;
struct Context {
  Account a[accounts_max];
  u64 count;
  const u8* data;
  u64 length;
  const Key* program;
};

constexpr u64 token_account_size = 165, mint_size = 82;
constexpr Key system_program_key = {};
// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
constexpr Key token_program_key = {
    {0x93a165d7e1f6dd06, 0xac79ebce46e1cbd9, 0x91375b5fed85b41c, 0xa900ff7e85f58c3a}};
// Sysvar1nstructions1111111111111111111111111
constexpr Key instructions_key = {
    {0x66d17b1817d5a706, 0xc0c2fd5504d4da35, 0xa57556218fc624c1, 0x85fcbbadb}};
// Ed25519SigVerify111111111111111111111111111
constexpr Key ed25519_program_key = {
    {0xbefb937cd6467d03, 0xff408d838f42f912, 0x648af42749747005, 0x804470cafc}};

constexpr u64 none = ~0ul;
