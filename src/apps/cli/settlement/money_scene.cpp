#include <algorithm>

#include "apps/cli/settlement/settlement_scenes.h"

namespace weft::cli {

Result<> MoneyScene::found() {
  const SettlementCast& cast = run_.cast();
  for (const crypto::KeyPair& one : cast.clients) WEFT_OK(give_tokens(one.public_key(), 20'000));
  for (const crypto::KeyPair& one : cast.stakers) WEFT_OK(give_tokens(one.public_key(), 1'000));
  for (const crypto::KeyPair& one : cast.posters) WEFT_OK(give_tokens(one.public_key(), 5'000));
  for (const crypto::KeyPair& one : cast.clients) WEFT_OK(deposit(one, 15'000 * micro_credits));
  WEFT_OK(deposit(run_.chain().founder(), 20'000 * micro_credits));
  for (const crypto::KeyPair& one : cast.stakers)
    WEFT_OK(stake(one, (100 + run_.below(400)) * micro_credits));
  return {};
}

Result<> MoneyScene::give_tokens(const PublicKey& to, std::uint64_t credits) {
  WEFT_OK(run_.chain().give_lamports(to));
  const PublicKey founder = run_.chain().founder().public_key();
  ByteVector data = {3};  // 3 is the number of the Transfer instruction.
  append_le(data, credits * micro_credits);
  return run_.step(
      {.what = "tokens are given",
       .instructions = {solana::create_associated_account(founder, to, run_.line().network.mint),
                        {.program = solana::token_program(),
                         .accounts = {{.key = run_.line().tokens_of(founder), .writable = true},
                                      {.key = run_.line().tokens_of(to), .writable = true},
                                      {.key = founder, .signer = true}},
                         .data = data}},
       .signers = {},
       .counts = [](SimulatedBooks&) {}});
}

Result<> MoneyScene::deposit(const crypto::KeyPair& client, std::uint64_t amount) {
  solana::ProgramCall call = run_.line().call("deposit");
  call.key("owner", client.public_key())
      .key("escrow", run_.line().network.escrow(client.public_key()))
      .key("from", run_.line().tokens_of(client.public_key()))
      .number("amount", amount);
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  return run_.step({.what = "a deposit",
                    .instructions = {std::move(instruction)},
                    .signers = {&client},
                    .counts = [amount](SimulatedBooks& books) { books.deposits += amount; }});
}

Result<> MoneyScene::stake(const crypto::KeyPair& staker, std::uint64_t amount) {
  solana::ProgramCall call = run_.line().call("stake");
  call.key("owner", staker.public_key())
      .key("stake", run_.line().network.stake(staker.public_key()))
      .key("from", run_.line().tokens_of(staker.public_key()))
      .number("amount", amount);
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  return run_.step({.what = "a stake",
                    .instructions = {std::move(instruction)},
                    .signers = {&staker},
                    .counts = [amount](SimulatedBooks& books) { books.staked += amount; }});
}

Result<> MoneyScene::withdraw(const crypto::KeyPair& client, std::uint64_t amount) {
  const PublicKey owner = client.public_key();
  solana::ProgramCall withdraw = run_.line().call("withdraw");
  withdraw.key("owner", owner)
      .key("coordinator", run_.chain().founder().public_key())
      .key("escrow", run_.line().network.escrow(owner))
      .key("to", run_.line().tokens_of(owner))
      .number("amount", amount);
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(withdraw));
  return run_.step({.what = "a withdrawal",
                    .instructions = {std::move(instruction)},
                    .signers = {&client},
                    .counts = [amount](SimulatedBooks& books) { books.withdrawals += amount; }});
}

Result<> MoneyScene::ways_out() {
  const auto& clients = run_.cast().clients;
  const auto& stakers = run_.cast().stakers;
  const crypto::KeyPair& client = clients[run_.below(clients.size())];
  const std::uint64_t amount = 1 + run_.below(3 * micro_credits);
  WEFT_OK(withdraw(client, amount));
  // Chooses a staker that does not vote, because voters keep their stakes.
  constexpr std::size_t voters = SettlementCast::voters;
  const crypto::KeyPair& staker = stakers[voters + run_.below(stakers.size() - voters)];
  const PublicKey stake_of = run_.line().network.stake(staker.public_key());
  WEFT_ASSIGN(const auto state, run_.line().state("stake", stake_of));
  const std::uint64_t held = state->number("amount"), leaving = state->number("unbonding");
  WEFT_ASSIGN(const std::uint64_t time, chain_time(run_.chain().rpc()));
  if (leaving > 0 && time >= state->number("unbond_at")) {
    solana::ProgramCall pay = run_.line().call("withdraw_stake");
    pay.key("owner", staker.public_key())
        .key("stake", stake_of)
        .key("to", run_.line().tokens_of(staker.public_key()));
    WEFT_ASSIGN(solana::Instruction paid, run_.built(pay));
    WEFT_OK(
        run_.step({.what = "an unbonded stake is paid",
                   .instructions = {std::move(paid)},
                   .signers = {&staker},
                   .counts = [leaving](SimulatedBooks& books) { books.unbonding -= leaving; }}));
    return stake(staker, micro_credits + run_.below(leaving));
  }
  if (leaving > 0 || held < 2 * micro_credits) return {};
  const std::uint64_t part = 1 + run_.below(held / 2);
  solana::ProgramCall leave = run_.line().call("unstake");
  leave.key("owner", staker.public_key()).key("stake", stake_of).number("amount", part);
  WEFT_ASSIGN(solana::Instruction left, run_.built(leave));
  return run_.step({.what = "a stake begins to unbond",
                    .instructions = {std::move(left)},
                    .signers = {&staker},
                    .counts = [part](SimulatedBooks& books) {
                      books.staked -= part;
                      books.unbonding += part;
                    }});
}

}  // namespace weft::cli
