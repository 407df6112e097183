#include <algorithm>

#include "apps/cli/settlement/settlement_scenes.h"
#include "common/solana/address.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t slots_to_final = 40;

}  // namespace

Result<> ChargeScene::wait_for_final() { return run_.chain().advance(slots_to_final); }

Result<> ChargeScene::charge(const crypto::KeyPair& client, std::uint64_t amount) {
  const PublicKey owner = client.public_key();
  const std::uint64_t cumulative = run_.charged_by(owner) + amount;
  const Hash digest = solana::voucher_digest(run_.line().signing_place(), owner, cumulative);
  const solana::SignedDigest voucher{
      .key = owner, .signature = client.sign_now(digest.span()), .digest = digest};
  solana::ProgramCall call = run_.line().call("charge");
  call.key("escrow", run_.line().network.escrow(owner)).number("cumulative", cumulative);
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  SettlementStep charging{
      .what = "a charge",
      .instructions = {solana::check_signatures({&voucher, 1}), std::move(instruction)},
      .signers = {},
      .counts = [owner, amount](SimulatedBooks& books) {
        books.charged += amount;
        books.charged_of[owner] += amount;
      }};
  const bool again = run_.below(20) == 0;
  const SettlementStep copy = charging;
  WEFT_OK(run_.step(std::move(charging)));
  return again ? run_.refused("A voucher charged twice", copy, "charge_forward") : Result<>();
}

Result<std::vector<SimulatedCoordinator::Charged>> ChargeScene::charged_on_chain() {
  std::vector<SimulatedCoordinator::Charged> out;
  // The planted defect reads charges that a fork can still take back.
  if (run_.plants("early-credit")) {
    for (const auto& [client, amount] : run_.books().charged_of) out.push_back({client, amount});
    return out;
  }
  const auto layout = solana::state_layout("escrow");
  WEFT_ASSIGN(auto found,
              run_.chain().rpc().accounts_of(
                  run_.line().network.program,
                  {.bytes = layout.bytes, .at = 8, .equal = run_.line().config_address.span()},
                  chain::Confirmation::finalized));
  for (chain::AccountData& account : found.accounts) {
    if (account.data[0] != layout.kind) continue;
    WEFT_ASSIGN(const auto escrow, solana::ProgramState::read("escrow", std::move(account.data)));
    out.push_back({escrow.key("owner"), escrow.number("charged")});
  }
  return out;
}

Result<> ChargeScene::credit(SimulatedCoordinator::Crash crash) {
  WEFT_ASSIGN(const auto charged, charged_on_chain());
  WEFT_ASSIGN(const std::size_t credited, run_.coordinator().credit(charged, crash));
  if (crash == SimulatedCoordinator::Crash::none) return run_.look("charges were credited");
  if (credited == 0) {
    if (run_.plants("early-credit")) return run_.look("nothing was left to credit");
    return run_.broken_by("nothing was to be credited when the coordinator crashed");
  }
  ++run_.tally().crashes;
  WEFT_OK(run_.coordinator().restart(run_.plants("credit-twice")));
  return run_.look("a crash while charges were credited");
}

Result<> ChargeScene::charges_and_credits(std::uint32_t epoch) {
  for (const crypto::KeyPair& client : run_.cast().clients)
    WEFT_OK(charge(client, (20 + run_.below(60)) * micro_credits));
  // No charge is final yet, and a fork may take charges back.
  WEFT_OK(credit(SimulatedCoordinator::Crash::none));
  if (epoch == run_.at(0.4) || epoch == run_.at(0.6) || epoch == run_.at(0.8)) WEFT_OK(run_.fork());
  WEFT_OK(wait_for_final());
  return credit(epoch == run_.at(0.3) ? SimulatedCoordinator::Crash::before_answer
                                      : SimulatedCoordinator::Crash::none);
}

Result<> ChargeScene::work_and_settle(std::uint32_t epoch) {
  // Each owner works at least once before the last epoch, and 50 draws give some owners more work.
  const std::size_t all = run_.options().owners, span = std::max(1U, run_.options().epochs - 1);
  std::vector<std::size_t> workers;
  const std::size_t from = all * (epoch - 1) / span, to = std::min(all, all * epoch / span);
  for (std::size_t i = from; i < to; ++i) workers.push_back(i);
  for (std::size_t i = 0; i < 50; ++i) workers.push_back(run_.below(std::max<std::size_t>(1, to)));
  std::ranges::shuffle(workers, run_.random());
  for (std::size_t i = 0; i < run_.cast().clients.size(); ++i) {
    std::vector<PublicKey> of_client;
    for (std::size_t w = i; w < workers.size(); w += run_.cast().clients.size())
      of_client.push_back(run_.cast().owners[workers[w]]);
    WEFT_OK(run_.coordinator().work(run_.cast().clients[i].public_key(), of_client,
                                    static_cast<double>(1 + run_.below(1'000))));
  }
  for (const std::size_t worker : workers)
    if (run_.below(10) != 0) WEFT_OK(run_.coordinator().settle(run_.cast().owners[worker]));
  return run_.look("owners have settled");
}

}  // namespace weft::cli
