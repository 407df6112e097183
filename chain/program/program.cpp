// The on-chain program: one translation unit without a library, for clang's BPF target. It reads
// the loader's input, then passes the accounts to the instruction that the first byte of the data
// names. layout.h has the layouts and the common checks.
#include "claims.h"
#include "escrow.h"
#include "evidence.h"
#include "governance.h"
#include "keys.h"
#include "setup.h"

// clang calls memcpy() for copies that it does not unroll.
extern "C" void* memcpy(void* to, const void* from, u64 size) {
  sol_memcpy_(to, from, size);
  return to;
}
extern "C" void* memset(void* to, int value, u64 size) {
  sol_memset_(to, u8(value), size);
  return to;
}

namespace {

constexpr u64 unknown_instruction = 0x0fff, malformed_input = 0x0ffe;

// Reads the loader's input. For each account it has 0xff or the number of an earlier equal account,
// flags, keys, lamports, and data with room to grow.
FN u64 read_input(const u8* input, Context& c) {
  constexpr u64 growth = 10240;
  c.count = load<u64>(input);
  if (c.count > accounts_max) return malformed_input;
  u8* at = const_cast<u8*>(input) + 8;
  for (u64 i = 0; i < c.count; ++i) {
    Account& account = c.a[i];
    if (at[0] != 0xff) {
      account = c.a[at[0]];
      at += 8;
      continue;
    }
    account.signer = at[1] != 0;
    account.writable = at[2] != 0;
    account.executable = at[3] != 0;
    account.key = reinterpret_cast<const Key*>(at + 8);
    account.owner = reinterpret_cast<const Key*>(at + 40);
    account.lamports = reinterpret_cast<u64*>(at + 72);
    account.size = load<u64>(at + 80);
    account.data = at + 88;
    at = reinterpret_cast<u8*>((reinterpret_cast<u64>(account.data + account.size + growth) + 7) &
                               ~7ul);
    account.rent_epoch = load<u64>(at);
    at += 8;
  }
  c.length = load<u64>(at);
  c.data = at + 8;
  c.program = reinterpret_cast<const Key*>(c.data + c.length);
  return c.length > 0 ? 0 : malformed_input;
}

}  // namespace

extern "C" u64 entrypoint(const u8* input) {
  Context c;
  TRY(read_input(input, c));
  switch (Tag(c.data[0])) {
    case Tag::claim:
      return claim(c);
    case Tag::post:
      return post(c);
    case Tag::finalise:
      return finalise(c);
    case Tag::open_page:
      return open_page(c);
    case Tag::charge:
      return charge(c);
    case Tag::deposit:
      return deposit(c);
    case Tag::withdraw:
      return withdraw(c);
    case Tag::request_withdrawal:
      return request_withdrawal(c);
    case Tag::finish_withdrawal:
      return finish_withdrawal(c);
    case Tag::stake:
      return add_stake(c);
    case Tag::unstake:
      return unstake(c);
    case Tag::withdraw_stake:
      return withdraw_stake(c);
    case Tag::take_rewards:
      return take_rewards(c);
    case Tag::init:
      return init(c);
    case Tag::freeze:
      return freeze(c);
    case Tag::decide:
      return decide(c);
    case Tag::add_device:
      return add_device(c);
    case Tag::end_device:
      return end_device(c);
    case Tag::record_receipt:
      return record_receipt(c);
    case Tag::close_receipt:
      return close_receipt(c);
    case Tag::slash:
      return slash(c);
    case Tag::show_leaf:
      return show_leaf(c);
    case Tag::close_leaf:
      return close_leaf(c);
    case Tag::prove_less:
      return prove_less(c);
    case Tag::prove_missing:
      return prove_missing(c);
    case Tag::prove_fell:
      return prove_fell(c);
    case Tag::prove_order:
      return prove_order(c);
    case Tag::prove_sum:
      return prove_sum(c);
    case Tag::demand:
      return demand_path(c);
    case Tag::answer:
      return answer(c);
    case Tag::void_unanswered:
      return void_unanswered(c);
    case Tag::propose:
      return propose(c);
    case Tag::vote:
      return cast_vote(c);
    case Tag::execute:
      return execute(c);
  }
  return unknown_instruction;
}
