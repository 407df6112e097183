#include "apps/cli/settlement/settlement_run.h"

#include <algorithm>

#include "apps/cli/installation.h"
#include "common/crypto/sha256.h"

namespace weft::cli {
namespace {

constexpr std::size_t clients = 20, stakers = 12, guardians = 3;
constexpr std::size_t steps_remembered = 30;  // More steps than a fork takes back.

Result<crypto::KeyPair> key_of(std::uint64_t seed, std::string_view name) {
  ByteVector number;
  append_le(number, seed);
  return crypto::KeyPair::from_seed(
      crypto::Sha256().update(number).update(as_bytes(name)).finish().span());
}

}  // namespace

Result<SettlementCast> SettlementCast::create(std::uint64_t seed, std::uint32_t owners) {
  SettlementCast cast;
  const auto fill = [&](std::vector<crypto::KeyPair>& out, std::string_view name,
                        std::size_t count) -> Result<> {
    for (std::size_t i = 0; i < count; ++i) {
      WEFT_ASSIGN(crypto::KeyPair key, key_of(seed, weft::format("{} {}", name, i)));
      out.push_back(std::move(key));
    }
    return {};
  };
  WEFT_OK(fill(cast.clients, "client", cli::clients));
  WEFT_OK(fill(cast.stakers, "staker", cli::stakers));
  WEFT_OK(fill(cast.guardians, "guardian", cli::guardians));
  WEFT_OK(fill(cast.posters, "poster", 2));
  // Owners need only public keys, because any account can claim for them.
  for (std::size_t i = 0; i <= owners; ++i) {
    ByteVector name;
    append_le(name, seed);
    append_le(name, std::uint64_t{i});
    PublicKey owner;
    owner.bytes = crypto::Sha256().update(name).finish().bytes;
    cast.owners.push_back(owner);
  }
  return cast;
}

Result<> SettlementRun::open() {
  WEFT_ASSIGN(cast_, SettlementCast::create(options_.seed, options_.owners));
  books_.claimed_of.resize(cast_.owners.size());
  SimulatedChain::Founding founding{
      .elf = options_.elf.empty() ? installation_folder() / "build" / "chain" / "weft.so"
                                  : options_.elf,
      .initial = 1'000'000,
      .founders = 900'000,
      .emission = 1'000,
      .halving_epochs = std::max(2U, options_.epochs * 2 / 5),
      .poster = cast_.posters[0].public_key(),
      .guardians = {}};
  for (const crypto::KeyPair& guardian : cast_.guardians)
    founding.guardians.push_back(guardian.public_key());
  WEFT_ASSIGN(chain_, SimulatedChain::start(founding));
  WEFT_ASSIGN(SimulatedCoordinator coordinator,
              SimulatedCoordinator::create({.journal = chain_->folder() / "chain-credits.txt",
                                            .config = line().config_address,
                                            .key = chain_->founder().public_key()}));
  coordinator_.emplace(std::move(coordinator));
  SettlementWatch::Watched watched;
  watched.clients.push_back(chain_->founder().public_key());
  for (const crypto::KeyPair& one : cast_.clients) watched.clients.push_back(one.public_key());
  for (const crypto::KeyPair& one : cast_.stakers) watched.stakers.push_back(one.public_key());
  watch_.emplace(line(), watched);
  return {};
}

std::uint64_t SettlementRun::charged_by(const PublicKey& client) const {
  const auto found = books_.charged_of.find(client);
  return found == books_.charged_of.end() ? 0 : found->second;
}

Result<> SettlementRun::broken_by(std::string text) {
  broken_ = std::move(text);
  return fail(ErrorCode::data_loss, "{}", broken_);
}

Result<> SettlementRun::look(std::string_view after) {
  WEFT_ASSIGN(const std::string wrong, watch_->look(books_, coordinator_->sums()));
  if (wrong.empty()) return {};
  return broken_by(weft::format("After \"{}\", step {}: {}", after, tally_.steps, wrong));
}

void SettlementRun::remember(Landed landed) {
  landed_.push_back(std::move(landed));
  if (landed_.size() > steps_remembered) landed_.pop_front();
}

void SettlementRun::landed(const SettlementStep& step) {
  ++tally_.steps;
  remember({.before = books_, .step = step});
  step.counts(books_);
}

Result<> SettlementRun::step(SettlementStep step) {
  if (const auto done = chain_->deliver(step.instructions, step.signers); !done) {
    if (done.error().code != ErrorCode::permission_denied) return done;
    return broken_by(weft::format("\"{}\" was refused: {}", step.what, done.error().message));
  }
  landed(step);
  return look(step.what);
}

Result<> SettlementRun::refused(std::string_view what, const SettlementStep& step,
                                std::string_view check) {
  const auto done = chain_->deliver(step.instructions, step.signers);
  if (done) return broken_by(weft::format("{} went through", what));
  if (done.error().code != ErrorCode::permission_denied ||
      done.error().message.find(check) == std::string::npos)
    return broken_by(
        weft::format("{} should be refused by {}: {}", what, check, done.error().message));
  ++tally_.refused;
  remember({.before = books_, .step = {}});
  return look(what);
}

Result<> SettlementRun::fork() {
  const std::size_t lost = std::min<std::size_t>(landed_.size(), 5 + below(15));
  if (lost == 0) return {};
  WEFT_OK(chain_->fork(lost));
  ++tally_.forks;
  tally_.forked += lost;
  std::vector<SettlementStep> again;
  const std::size_t first = landed_.size() - lost;
  books_ = landed_[first].before;
  for (std::size_t i = first; i < landed_.size(); ++i)
    if (landed_[i].step) again.push_back(std::move(*landed_[i].step));
  landed_.resize(first);
  WEFT_OK(look("a fork"));
  for (SettlementStep& one : again) WEFT_OK(step(std::move(one)));
  return {};
}

}  // namespace weft::cli
