#include "apps/cli/settlement/simulate_settlement.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <random>

#include "apps/cli/exit_code.h"
#include "apps/cli/installation.h"
#include "apps/cli/settlement/epochs.h"
#include "apps/cli/settlement/simulated_books.h"
#include "apps/cli/settlement/simulated_chain.h"
#include "apps/cli/settlement/simulated_coordinator.h"
#include "common/crypto/sha256.h"
#include "common/json/quote.h"
#include "common/solana/address.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

__extension__ using Wide = unsigned __int128;  // Both compilers have it.

constexpr std::uint64_t credit = 1'000'000;
constexpr std::uint64_t day = 86'400;
constexpr std::uint64_t slots_to_final = 40;
constexpr std::size_t clients = 20, stakers = 12, voters = 8, guardians = 3;
constexpr std::size_t steps_remembered = 30;  // A fork takes back fewer.
constexpr std::uint64_t new_fee_bps = 200;

struct Step {
  std::string what;
  std::vector<solana::Instruction> instructions;
  std::vector<const crypto::KeyPair*> signers;
  std::function<void(SimulatedBooks&)> counts;  // What it changes.
};
// What can be taken back: a step, or a transaction that failed, and the books before it.
struct Landed {
  SimulatedBooks before;
  std::optional<Step> step;
};

struct Tally {
  std::uint64_t steps = 0, refused = 0, claims = 0, crashes = 0, forks = 0, forked = 0;
  std::uint64_t stolen_most = 0, stolen_bound = 0;
};

Result<crypto::KeyPair> key_of(std::uint64_t seed, std::string_view name) {
  ByteVector number;
  append_le(number, seed);
  return crypto::KeyPair::from_seed(
      crypto::Sha256().update(number).update(as_bytes(name)).finish().span());
}

class Play {
 public:
  explicit Play(const SimulateSettlementOptions& options)
      : options_(options), random_(options.seed) {}

  [[nodiscard]] Result<> run();
  [[nodiscard]] const std::string& broken() const { return broken_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] std::uint64_t looks() const { return watch_ ? watch_->looks() : 0; }
  [[nodiscard]] const SimulatedBooks& books() const { return books_; }

 private:
  // --- Steps, each followed by a look.
  Result<> step(Step step);
  Result<> refused(std::string_view what, const Step& step, std::string_view check);
  Result<> look(std::string_view after);
  Result<> fork();
  Result<> broken_by(std::string text);
  Result<solana::Instruction> built(const solana::ProgramCall& call) {
    return call.build(chain_->network().program);
  }

  // --- Scenes
  Result<> found();
  Result<> make_keys();
  Result<> give_tokens(const PublicKey& to, std::uint64_t amount);
  Result<> deposit(const crypto::KeyPair& client, std::uint64_t amount);
  Result<> charge(const crypto::KeyPair& client, std::uint64_t amount);
  Result<> stake(const crypto::KeyPair& staker, std::uint64_t amount);
  Result<> charges_and_credits(std::uint32_t epoch);
  Result<> credit_charges(SimulatedCoordinator::Crash crash);
  Result<std::vector<SimulatedCoordinator::Charged>> charged_on_chain();
  Result<> work_and_settle(std::uint32_t epoch);
  Result<> ways_out();
  Result<> post_and_finalise(std::uint32_t epoch);
  struct Posting {
    std::shared_ptr<const solana::SumTree> tree;
    std::uint64_t emission = 0;
  };
  Result<Step> post_step(std::uint32_t epoch, const Posting& posting,
                         const crypto::KeyPair& poster);
  Result<Posting> next_posting(std::uint32_t epoch);
  Result<std::uint64_t> available();
  Result<> post(std::uint32_t epoch, bool crash);
  Result<> finalise(std::uint32_t epoch);
  Result<> theft(std::uint32_t epoch);
  Result<Step> decide_step(std::span<const std::size_t> by);
  Result<> open_page(std::uint32_t page);
  Result<Step> claim_step(std::size_t owner, bool pays);
  Result<> claim(std::size_t owner);
  Result<> claims();
  Result<> propose_and_vote();
  Result<> execute();
  Result<> close();
  Result<> plant_on_claim(std::size_t owner);
  Result<> tokens_add_up();
  void progress(std::uint32_t epoch);

  [[nodiscard]] bool plants(std::string_view defect) const { return options_.plant == defect; }
  [[nodiscard]] std::uint32_t at(double share) const {
    return std::max(1U, static_cast<std::uint32_t>(share * options_.epochs));
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  const SettlementLine& line() const { return chain_->line(); }

  SimulateSettlementOptions options_;
  std::mt19937_64 random_;
  std::unique_ptr<SimulatedChain> chain_;
  std::optional<SimulatedCoordinator> coordinator_;
  std::optional<SettlementWatch> watch_;
  SimulatedBooks books_;
  std::deque<Landed> landed_;
  std::vector<crypto::KeyPair> clients_, stakers_, guardians_, posters_;
  std::vector<PublicKey> owners_;
  std::size_t poster_ = 0;
  std::uint64_t voted_at_ = 0;  // Epochs: execute() is due 18 days later.
  bool executed_ = false;
  Tally tally_;
  std::string broken_;
};

Result<> Play::broken_by(std::string text) {
  broken_ = std::move(text);
  return fail(ErrorCode::data_loss, "{}", broken_);
}

Result<> Play::look(std::string_view after) {
  WEFT_ASSIGN(const std::string wrong, watch_->look(books_, coordinator_->sums()));
  if (wrong.empty()) return {};
  return broken_by(weft::format("After \"{}\", step {}: {}", after, tally_.steps, wrong));
}

Result<> Play::step(Step step) {
  if (const auto done = chain_->deliver(step.instructions, step.signers); !done) {
    if (done.error().code != ErrorCode::permission_denied) return done;
    return broken_by(weft::format("\"{}\" was refused: {}", step.what, done.error().message));
  }
  ++tally_.steps;
  landed_.push_back({.before = books_, .step = {}});
  step.counts(books_);
  const std::string what = step.what;
  landed_.back().step = std::move(step);
  if (landed_.size() > steps_remembered) landed_.pop_front();
  return look(what);
}

Result<> Play::refused(std::string_view what, const Step& step, std::string_view check) {
  const auto done = chain_->deliver(step.instructions, step.signers);
  if (done) return broken_by(weft::format("{} went through", what));
  if (done.error().code != ErrorCode::permission_denied ||
      done.error().message.find(check) == std::string::npos)
    return broken_by(
        weft::format("{} should be refused by {}: {}", what, check, done.error().message));
  ++tally_.refused;
  landed_.push_back({.before = books_, .step = {}});
  if (landed_.size() > steps_remembered) landed_.pop_front();
  return look(what);
}

// The last transactions never were; then each step that was among them is done again.
Result<> Play::fork() {
  const std::size_t lost = std::min<std::size_t>(landed_.size(), 5 + below(15));
  if (lost == 0) return {};
  WEFT_OK(chain_->fork(lost));
  ++tally_.forks;
  tally_.forked += lost;
  std::vector<Step> again;
  const std::size_t first = landed_.size() - lost;
  books_ = landed_[first].before;
  for (std::size_t i = first; i < landed_.size(); ++i)
    if (landed_[i].step) again.push_back(std::move(*landed_[i].step));
  landed_.resize(first);
  WEFT_OK(look("a fork"));
  for (Step& one : again) WEFT_OK(step(std::move(one)));
  return {};
}

// --- The start

Result<> Play::make_keys() {
  const auto fill = [&](std::vector<crypto::KeyPair>& out, std::string_view name,
                        std::size_t count) -> Result<> {
    for (std::size_t i = 0; i < count; ++i) {
      WEFT_ASSIGN(crypto::KeyPair key, key_of(options_.seed, weft::format("{} {}", name, i)));
      out.push_back(std::move(key));
    }
    return {};
  };
  WEFT_OK(fill(clients_, "client", clients));
  WEFT_OK(fill(stakers_, "staker", stakers));
  WEFT_OK(fill(guardians_, "guardian", guardians));
  WEFT_OK(fill(posters_, "poster", 2));
  // Owners sign nothing here: any account can claim for them. The last one is the thief.
  for (std::size_t i = 0; i <= options_.owners; ++i) {
    ByteVector name;
    append_le(name, options_.seed);
    append_le(name, std::uint64_t{i});
    PublicKey owner;
    owner.bytes = crypto::Sha256().update(name).finish().bytes;
    owners_.push_back(owner);
  }
  books_.claimed_of.resize(owners_.size());
  return {};
}

Result<> Play::found() {
  WEFT_OK(make_keys());
  SimulatedChain::Founding founding{
      .elf = options_.elf.empty() ? installation_folder() / "build" / "chain" / "weft.so"
                                  : options_.elf,
      .initial = 1'000'000,
      .founders = 900'000,
      .emission = 1'000,
      .halving_epochs = std::max(2U, options_.epochs * 2 / 5),
      .poster = posters_[0].public_key(),
      .guardians = {}};
  for (const crypto::KeyPair& guardian : guardians_)
    founding.guardians.push_back(guardian.public_key());
  WEFT_ASSIGN(chain_, SimulatedChain::start(founding));
  WEFT_ASSIGN(SimulatedCoordinator coordinator,
              SimulatedCoordinator::create({.journal = chain_->folder() / "chain-credits.txt",
                                            .config = line().config_address,
                                            .key = chain_->founder().public_key()}));
  coordinator_.emplace(std::move(coordinator));
  SettlementWatch::Watched watched;
  watched.clients.push_back(chain_->founder().public_key());
  for (const crypto::KeyPair& one : clients_) watched.clients.push_back(one.public_key());
  for (const crypto::KeyPair& one : stakers_) watched.stakers.push_back(one.public_key());
  watch_.emplace(line(), watched);
  for (const crypto::KeyPair& one : clients_) WEFT_OK(give_tokens(one.public_key(), 20'000));
  for (const crypto::KeyPair& one : stakers_) WEFT_OK(give_tokens(one.public_key(), 1'000));
  for (const crypto::KeyPair& one : posters_) WEFT_OK(give_tokens(one.public_key(), 5'000));
  for (const crypto::KeyPair& one : clients_) WEFT_OK(deposit(one, 15'000 * credit));
  WEFT_OK(deposit(chain_->founder(), 20'000 * credit));
  for (const crypto::KeyPair& one : stakers_) WEFT_OK(stake(one, (100 + below(400)) * credit));
  return {};
}

Result<> Play::give_tokens(const PublicKey& to, std::uint64_t credits) {
  WEFT_OK(chain_->give_lamports(to));
  const PublicKey founder = chain_->founder().public_key();
  ByteVector data = {3};  // Transfer.
  append_le(data, credits * credit);
  return step({.what = "tokens are given",
               .instructions = {solana::create_associated_account(founder, to, line().network.mint),
                                {.program = solana::token_program(),
                                 .accounts = {{.key = line().tokens_of(founder), .writable = true},
                                              {.key = line().tokens_of(to), .writable = true},
                                              {.key = founder, .signer = true}},
                                 .data = data}},
               .signers = {},
               .counts = [](SimulatedBooks&) {}});
}

Result<> Play::deposit(const crypto::KeyPair& client, std::uint64_t amount) {
  solana::ProgramCall call = line().call("deposit");
  call.key("owner", client.public_key())
      .key("escrow", line().network.escrow(client.public_key()))
      .key("from", line().tokens_of(client.public_key()))
      .number("amount", amount);
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  return step({.what = "a deposit",
               .instructions = {std::move(instruction)},
               .signers = {&client},
               .counts = [amount](SimulatedBooks& books) { books.deposits += amount; }});
}

Result<> Play::stake(const crypto::KeyPair& staker, std::uint64_t amount) {
  solana::ProgramCall call = line().call("stake");
  call.key("owner", staker.public_key())
      .key("stake", line().network.stake(staker.public_key()))
      .key("from", line().tokens_of(staker.public_key()))
      .number("amount", amount);
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  return step({.what = "a stake",
               .instructions = {std::move(instruction)},
               .signers = {&staker},
               .counts = [amount](SimulatedBooks& books) { books.staked += amount; }});
}

// --- From a voucher to credits and work

Result<> Play::charge(const crypto::KeyPair& client, std::uint64_t amount) {
  const PublicKey owner = client.public_key();
  const std::uint64_t cumulative = books_.charged_of[owner] + amount;
  const Hash digest = solana::voucher_digest(line().signing_place(), owner, cumulative);
  const solana::SignedDigest voucher{
      .key = owner, .signature = client.sign_now(digest.span()), .digest = digest};
  solana::ProgramCall call = line().call("charge");
  call.key("escrow", line().network.escrow(owner)).number("cumulative", cumulative);
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  Step charging{.what = "a charge",
                .instructions = {solana::check_signatures({&voucher, 1}), std::move(instruction)},
                .signers = {},
                .counts = [owner, amount](SimulatedBooks& books) {
                  books.charged += amount;
                  books.charged_of[owner] += amount;
                }};
  const bool again = below(20) == 0;
  const Step copy = charging;
  WEFT_OK(step(std::move(charging)));
  return again ? refused("A voucher charged twice", copy, "charge_forward") : Result<>();
}

Result<std::vector<SimulatedCoordinator::Charged>> Play::charged_on_chain() {
  std::vector<SimulatedCoordinator::Charged> out;
  if (plants("early-credit")) {  // Reads what a fork can still take back.
    for (const auto& [client, amount] : books_.charged_of) out.push_back({client, amount});
    return out;
  }
  const auto layout = solana::state_layout("escrow");
  WEFT_ASSIGN(auto found,
              chain_->rpc().accounts_of(
                  line().network.program,
                  {.bytes = layout.bytes, .at = 8, .equal = line().config_address.span()},
                  chain::Confirmation::finalized));
  for (chain::AccountData& account : found.accounts) {
    if (account.data[0] != layout.kind) continue;
    WEFT_ASSIGN(const auto escrow, solana::ProgramState::read("escrow", std::move(account.data)));
    out.push_back({escrow.key("owner"), escrow.number("charged")});
  }
  return out;
}

Result<> Play::credit_charges(SimulatedCoordinator::Crash crash) {
  WEFT_ASSIGN(const auto charged, charged_on_chain());
  WEFT_ASSIGN(const std::size_t credited, coordinator_->credit(charged, crash));
  if (crash == SimulatedCoordinator::Crash::none) return look("charges were credited");
  if (credited == 0) {
    if (plants("early-credit")) return look("nothing was left to credit");
    return broken_by("nothing was to be credited when the coordinator crashed");
  }
  ++tally_.crashes;
  WEFT_OK(coordinator_->restart(plants("credit-twice")));
  return look("a crash while charges were credited");
}

Result<> Play::charges_and_credits(std::uint32_t epoch) {
  for (const crypto::KeyPair& client : clients_) WEFT_OK(charge(client, (20 + below(60)) * credit));
  // At once nothing is final, and a fork may take charges back.
  WEFT_OK(credit_charges(SimulatedCoordinator::Crash::none));
  if (epoch == at(0.4) || epoch == at(0.6) || epoch == at(0.8)) WEFT_OK(fork());
  WEFT_OK(chain_->advance(slots_to_final));
  return credit_charges(epoch == at(0.3) ? SimulatedCoordinator::Crash::before_answer
                                         : SimulatedCoordinator::Crash::none);
}

Result<> Play::work_and_settle(std::uint32_t epoch) {
  // Each owner works once in the first epochs, some again.
  const std::size_t all = options_.owners, span = std::max(1U, options_.epochs - 1);
  std::vector<std::size_t> workers;
  const std::size_t from = all * (epoch - 1) / span, to = std::min(all, all * epoch / span);
  for (std::size_t i = from; i < to; ++i) workers.push_back(i);
  for (std::size_t i = 0; i < 50; ++i) workers.push_back(below(std::max<std::size_t>(1, to)));
  std::ranges::shuffle(workers, random_);
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    std::vector<PublicKey> of_client;
    for (std::size_t w = i; w < workers.size(); w += clients_.size())
      of_client.push_back(owners_[workers[w]]);
    WEFT_OK(coordinator_->work(clients_[i].public_key(), of_client,
                               static_cast<double>(1 + below(1'000))));
  }
  for (const std::size_t worker : workers)
    if (below(10) != 0) WEFT_OK(coordinator_->settle(owners_[worker]));
  return look("owners have settled");
}

// Withdrawals, and stakes that leave and come.
Result<> Play::ways_out() {
  const crypto::KeyPair& client = clients_[below(clients)];
  const PublicKey owner = client.public_key();
  const std::uint64_t amount = 1 + below(3 * credit);
  solana::ProgramCall withdraw = line().call("withdraw");
  withdraw.key("owner", owner)
      .key("coordinator", chain_->founder().public_key())
      .key("escrow", line().network.escrow(owner))
      .key("to", line().tokens_of(owner))
      .number("amount", amount);
  WEFT_ASSIGN(solana::Instruction instruction, built(withdraw));
  WEFT_OK(step({.what = "a withdrawal",
                .instructions = {std::move(instruction)},
                .signers = {&client},
                .counts = [amount](SimulatedBooks& books) { books.withdrawals += amount; }}));
  // Those that vote keep their stakes.
  const crypto::KeyPair& staker = stakers_[voters + below(stakers - voters)];
  const PublicKey stake_of = line().network.stake(staker.public_key());
  WEFT_ASSIGN(const auto state, line().state("stake", stake_of));
  const std::uint64_t held = state->number("amount"), leaving = state->number("unbonding");
  WEFT_ASSIGN(const std::uint64_t time, chain_time(chain_->rpc()));
  if (leaving > 0 && time >= state->number("unbond_at")) {
    solana::ProgramCall pay = line().call("withdraw_stake");
    pay.key("owner", staker.public_key())
        .key("stake", stake_of)
        .key("to", line().tokens_of(staker.public_key()));
    WEFT_ASSIGN(solana::Instruction paid, built(pay));
    WEFT_OK(step({.what = "an unbonded stake is paid",
                  .instructions = {std::move(paid)},
                  .signers = {&staker},
                  .counts = [leaving](SimulatedBooks& books) { books.unbonding -= leaving; }}));
    return stake(staker, credit + below(leaving));
  }
  if (leaving > 0 || held < 2 * credit) return {};
  const std::uint64_t part = 1 + below(held / 2);
  solana::ProgramCall leave = line().call("unstake");
  leave.key("owner", staker.public_key()).key("stake", stake_of).number("amount", part);
  WEFT_ASSIGN(solana::Instruction left, built(leave));
  return step({.what = "a stake begins to unbond",
               .instructions = {std::move(left)},
               .signers = {&staker},
               .counts = [part](SimulatedBooks& books) {
                 books.staked -= part;
                 books.unbonding += part;
               }});
}

// --- Epochs

Result<std::uint64_t> Play::available() {
  WEFT_OK(chain_->refresh());
  WEFT_ASSIGN(const std::uint64_t vault, tokens_in(chain_->rpc(), line().config.key("vault")));
  return std::min(
      line().config.number("charged") - line().config.number("spends_posted"),
      static_cast<std::uint64_t>(Wide{vault} * line().config.number("post_bps") / 10'000));
}

Result<Play::Posting> Play::next_posting(std::uint32_t epoch) {
  WEFT_ASSIGN(const std::uint64_t funds, available());
  const auto previous = books_.posted ? books_.posted->owners() : std::span<const solana::Earned>();
  WEFT_ASSIGN(
      settlement::EpochRows rows,
      coordinator_->rows(previous, {.available = funds, .emission = emission_left(line(), epoch)}));
  WEFT_ASSIGN(solana::SumTree tree, solana::SumTree::create(std::move(rows.rows)));
  return Posting{.tree = std::make_shared<const solana::SumTree>(std::move(tree)),
                 .emission = rows.emitted};
}

Result<Step> Play::post_step(std::uint32_t epoch, const Posting& posting,
                             const crypto::KeyPair& poster) {
  PublicKey root;
  root.bytes = posting.tree->root().hash.bytes;
  solana::ProgramCall call = line().call("post");
  call.key("poster", poster.public_key())
      .key("bond_from", line().tokens_of(poster.public_key()))
      .number("epoch", epoch)
      .data_key("root", root)
      .number("amount", posting.tree->root().sum)
      .number("units", posting.tree->units())
      .number("emission", posting.emission)
      .number("depth", posting.tree->depth());
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  return Step{.what = weft::format("epoch {} is posted", epoch),
              .instructions = {std::move(instruction)},
              .signers = {&poster},
              .counts = [tree = posting.tree](SimulatedBooks& books) { books.posted = tree; }};
}

// With a crash: it ends when the transaction is signed, kept and sent, and goes on from what is on
// the disk.
Result<> Play::post(std::uint32_t epoch, bool crash) {
  WEFT_ASSIGN(const Posting posting, next_posting(epoch));
  const crypto::KeyPair& poster = posters_[poster_];
  WEFT_ASSIGN(Step posted, post_step(epoch, posting, poster));
  if (!crash) return step(std::move(posted));
  std::optional<chain::SignedTransaction> kept;
  const chain::Sender::Options following{
      .level = chain::Confirmation::processed,
      .micro_lamports = 0,
      .poll = std::chrono::milliseconds(1),
      .keep = [&kept](const chain::SignedTransaction& signed_one) -> Result<> {
        kept = signed_one;
        return {};
      }};
  chain::Sender sender(chain_->rpc(), following);
  const chain::Plan plan{.instructions = posted.instructions, .payer = &poster};
  WEFT_ASSIGN(const chain::Quote quote, sender.quote(plan));
  WEFT_OK(sender.launch(plan, quote));
  ++tally_.crashes;
  WEFT_OK(coordinator_->restart(false));
  chain::Sender again(chain_->rpc(), following);
  WEFT_OK(again.follow(*kept));
  ++tally_.steps;
  landed_.push_back({.before = books_, .step = {}});
  posted.counts(books_);
  landed_.back().step = posted;
  if (landed_.size() > steps_remembered) landed_.pop_front();
  WEFT_OK(look("a crash while an epoch was posted"));
  // The rows are made again from what is on the disk: the same epoch is not posted twice.
  return refused("An epoch posted again after a crash", posted, "post_");
}

Result<> Play::finalise(std::uint32_t epoch) {
  WEFT_OK(chain_->refresh());
  const std::uint64_t slot = epoch % solana::epochs_remembered;
  solana::ProgramCall call = line().call("finalise");
  call.key("bond_to", line().config.key(weft::format("epochs.{}.bond_account", slot)))
      .number("slot", slot);
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  return step({.what = weft::format("epoch {} is final", epoch),
               .instructions = {std::move(instruction)},
               .signers = {},
               .counts = [slot](SimulatedBooks& books) {
                 books.final = books.posted;
                 books.final_slot = slot;
               }});
}

Result<Step> Play::decide_step(std::span<const std::size_t> by) {
  const std::uint64_t slot = line().config.number("last_epoch") % solana::epochs_remembered;
  const std::uint64_t bond = line().epoch_number(slot, "bond");
  solana::ProgramCall call = line().call("decide");
  call.number("voids", 1).number("thaws", 1).data_key("poster", posters_[1].public_key());
  Step out{.what = "guardians void a root and name another poster",
           .instructions = {},
           .signers = {},
           .counts = {}};
  for (const std::size_t guardian : by) {
    call.signer(guardians_[guardian].public_key());
    out.signers.push_back(&guardians_[guardian]);
  }
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  out.instructions = {std::move(instruction)};
  out.counts = [bond, honest = books_.final](SimulatedBooks& books) {
    books.posted = honest;
    books.forged = false;
    books.bonds_burned += bond;
  };
  return out;
}

// A thief has the posting key for one window: it gives itself all that the program lets it; a
// guardian freezes it before two void it.
Result<> Play::theft(std::uint32_t epoch) {
  WEFT_ASSIGN(const std::uint64_t spends, available());
  const std::uint64_t emission = emission_left(line(), epoch);
  const auto forged = [&](std::uint64_t stolen, std::uint64_t minted) -> Result<Posting> {
    std::vector<solana::Earned> rows;
    std::uint32_t next = 0;
    if (books_.posted) rows.assign_range(books_.posted->owners());
    for (const solana::Earned& row : rows) next = std::max(next, row.index + 1);
    rows.push_back({.owner = owners_.back(),
                    .index = next,
                    .amount = stolen + minted,
                    .units = 1,
                    .emission = minted});
    WEFT_ASSIGN(solana::SumTree tree, solana::SumTree::create(std::move(rows)));
    return Posting{.tree = std::make_shared<const solana::SumTree>(std::move(tree)),
                   .emission = minted};
  };
  const crypto::KeyPair& thief = posters_[0];
  WEFT_ASSIGN(const Posting more_spends, forged(spends + 1, emission));
  WEFT_ASSIGN(const Step above_spends, post_step(epoch, more_spends, thief));
  WEFT_OK(refused("A root that takes more than was charged", above_spends, "post_bound"));
  WEFT_ASSIGN(const Posting more_emission, forged(spends, emission + 1));
  WEFT_ASSIGN(const Step above_emission, post_step(epoch, more_emission, thief));
  WEFT_OK(refused("A root that emits too much", above_emission, "post_emission"));
  WEFT_ASSIGN(const std::uint64_t vault, tokens_in(chain_->rpc(), line().config.key("vault")));
  tally_.stolen_most = spends + emission;
  tally_.stolen_bound = emission + vault / 20;
  if (tally_.stolen_most > tally_.stolen_bound)
    return broken_by("the posting key is worth more than an emission and 5 % of the vault");
  WEFT_ASSIGN(const Posting most, forged(spends, emission));
  WEFT_ASSIGN(Step stolen, post_step(epoch, most, thief));
  stolen.what = "a thief posts a root";
  stolen.counts = [tree = most.tree](SimulatedBooks& books) {
    books.posted = tree;
    books.forged = true;
  };
  WEFT_OK(step(std::move(stolen)));
  WEFT_OK(chain_->refresh());
  const std::uint64_t slot = epoch % solana::epochs_remembered;
  solana::ProgramCall final_call = line().call("finalise");
  final_call.key("bond_to", line().tokens_of(thief.public_key())).number("slot", slot);
  WEFT_ASSIGN(solana::Instruction final_instruction, built(final_call));
  const Step shortened{
      .what = "", .instructions = {final_instruction}, .signers = {}, .counts = {}};
  WEFT_OK(refused("A root made final in its window", shortened, "finalise_window"));

  solana::ProgramCall freeze = line().call("freeze");
  freeze.key("guardian", guardians_[0].public_key());
  WEFT_ASSIGN(solana::Instruction frozen, built(freeze));
  WEFT_OK(step({.what = "a guardian freezes posts",
                .instructions = {std::move(frozen)},
                .signers = {&guardians_[0]},
                .counts = [](SimulatedBooks&) {}}));
  WEFT_OK(chain_->warp(day / 2));
  WEFT_OK(refused("A frozen root made final", shortened, "finalise_frozen"));
  const std::size_t one[] = {0}, two[] = {0, 2};
  WEFT_ASSIGN(const Step alone, decide_step(one));
  WEFT_OK(refused("A decision of one guardian", alone, "decide_quorum"));
  WEFT_ASSIGN(Step together, decide_step(two));
  WEFT_OK(step(std::move(together)));
  WEFT_ASSIGN(const Step again, post_step(epoch, most, thief));
  WEFT_OK(refused("A root of the key that was stolen", again, "post_poster"));
  poster_ = 1;
  return chain_->warp(day / 2);  // The next day, so that the honest epoch has a whole window.
}

Result<> Play::post_and_finalise(std::uint32_t epoch) {
  WEFT_OK(chain_->warp(day / 2));
  if (epoch == at(0.5)) WEFT_OK(theft(epoch));
  WEFT_OK(post(epoch, epoch == at(0.7)));
  WEFT_OK(chain_->warp(day / 2));
  return finalise(epoch);
}

// --- Claims

Result<> Play::open_page(std::uint32_t page) {
  if (books_.pages.contains(page)) return {};
  solana::ProgramCall call = line().call("open_page");
  call.key("payer", chain_->founder().public_key())
      .key("page", line().network.page(page).address)
      .number("page", page);
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  return step({.what = "a page is opened",
               .instructions = {std::move(instruction)},
               .signers = {},
               .counts = [page](SimulatedBooks& books) { books.pages.insert(page); }});
}

// `pays`: the owner is due something.
Result<Step> Play::claim_step(std::size_t owner, bool pays) {
  const solana::SumTree& tree = *books_.final;
  WEFT_ASSIGN(const std::uint32_t position, tree.position(owners_[owner]));
  const solana::Earned& row = tree.owners()[position];
  const auto page = line().network.page(row.index / solana::owners_of_page);
  solana::ProgramCall call = line().call("claim");
  call.key("page", page.address)
      .key("to", line().tokens_of(owners_[owner]))
      .number("page_bump", page.bump)
      .number("place",
              books_.final_slot | std::uint64_t{row.index} << 4U | std::uint64_t{position} << 25U)
      .number("amount", row.amount)
      .number("units", row.units);
  call.tail(path_bytes(tree.path(position)));
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  Step out{.what = "a claim", .instructions = {}, .signers = {}, .counts = {}};
  if (books_.claimed_of[owner] == 0)
    out.instructions.push_back(solana::create_associated_account(
        chain_->founder().public_key(), owners_[owner], line().network.mint));
  out.instructions.push_back(std::move(instruction));
  out.counts = [owner, amount = row.amount, pays](SimulatedBooks& books) {
    if (!pays) return;
    books.claimed += amount - books.claimed_of[owner];
    books.claimed_of[owner] = amount;
  };
  return out;
}

Result<> Play::claim(std::size_t owner) {
  const auto position = books_.final->position(owners_[owner]);
  if (!position) return {};  // It has settled nothing yet.
  const solana::Earned& row = books_.final->owners()[*position];
  if (row.amount <= books_.claimed_of[owner]) return {};
  WEFT_OK(open_page(row.index / solana::owners_of_page));
  WEFT_ASSIGN(Step claiming, claim_step(owner, true));
  WEFT_OK(step(std::move(claiming)));
  ++tally_.claims;
  return {};
}

// The effects of a program that forgets what it paid, written into its accounts.
Result<> Play::plant_on_claim(std::size_t owner) {
  const auto position = books_.final->position(owners_[owner]);
  if (!position || books_.claimed_of[owner] == 0) return {};
  const std::uint32_t index = books_.final->owners()[*position].index;
  const PublicKey page = line().network.page(index / solana::owners_of_page).address;
  ByteVector zero;
  append_le(zero, std::uint64_t{0});
  if (plants("claim-twice")) {
    WEFT_OK(chain_->patch(page, std::size_t{8} * (index % solana::owners_of_page), zero));
    WEFT_ASSIGN(Step again, claim_step(owner, false));
    return step(std::move(again));
  }
  WEFT_OK(chain_->refresh());
  ByteVector fewer;
  append_le(fewer, line().config.number("claimed_spends") - 1);
  for (const solana::Field& field : solana::state_layout("config").fields)
    if (field.name == "claimed_spends")
      WEFT_OK(chain_->patch(line().config_address, field.at, fewer));
  return look("a claim");
}

Result<> Play::claims() {
  for (int i = 0; i < 20; ++i) {
    const std::size_t owner = below(options_.owners);
    const std::uint64_t before = books_.claimed_of[owner];
    WEFT_OK(claim(owner));
    if (books_.claimed_of[owner] == before) continue;
    if (plants("claim-twice") || plants("lost-spend")) WEFT_OK(plant_on_claim(owner));
    if (below(4) != 0) continue;
    WEFT_ASSIGN(const Step again, claim_step(owner, false));
    WEFT_OK(refused("A second claim", again, "claim_new"));
  }
  return {};
}

// --- A vote

Result<> Play::propose_and_vote() {
  const PublicKey by = stakers_[0].public_key(), proposal = line().network.proposal(0);
  const auto bounds = solana::parameter_bounds();
  const auto fee = std::ranges::find(bounds, "fee_bps", &solana::ParameterBounds::name);
  solana::ProgramCall propose = line().call("propose");
  propose.key("owner", by)
      .key("stake", line().network.stake(by))
      .key("proposal", proposal)
      .number("action", 0)
      .number("parameter", static_cast<std::uint64_t>(fee - bounds.begin()))
      .number("value", new_fee_bps)
      .data_key("target", by);
  WEFT_ASSIGN(solana::Instruction proposed, built(propose));
  WEFT_OK(step({.what = "a proposal",
                .instructions = {std::move(proposed)},
                .signers = {&stakers_[0]},
                .counts = [](SimulatedBooks&) {}}));
  for (std::size_t i = 0; i < voters; ++i) {
    const PublicKey stake = line().network.stake(stakers_[i].public_key());
    solana::ProgramCall vote = line().call("vote");
    vote.key("owner", stakers_[i].public_key())
        .key("stake", stake)
        .key("proposal", proposal)
        .key("vote", line().network.vote(proposal, stake))
        .number("yes", i % 4 == 3 ? 0 : 1);
    WEFT_ASSIGN(solana::Instruction voted, built(vote));
    const Step voting{.what = "a vote",
                      .instructions = {std::move(voted)},
                      .signers = {&stakers_[i]},
                      .counts = [](SimulatedBooks&) {}};
    WEFT_OK(step(voting));
    if (i == 0) WEFT_OK(refused("A stake that votes twice", voting, "vote_exists"));
  }
  return {};
}

Result<> Play::execute() {
  solana::ProgramCall call = line().call("execute");
  call.key("proposal", line().network.proposal(0)).key("to", line().config.key("treasury"));
  WEFT_ASSIGN(solana::Instruction instruction, built(call));
  const Step executing{.what = "a proposal is carried out",
                       .instructions = {std::move(instruction)},
                       .signers = {},
                       .counts = [](SimulatedBooks&) {}};
  WEFT_OK(step(executing));
  executed_ = true;
  WEFT_OK(refused("A proposal carried out twice", executing, "execute_once"));
  WEFT_OK(chain_->refresh());
  if (line().config.number("fee_bps") != new_fee_bps)
    return broken_by("the vote has not changed the fee");
  return {};
}

// --- The end

// All is settled, posted, final and claimed; every owner holds what its row gives.
Result<> Play::close() {
  if (!executed_) {
    WEFT_OK(chain_->warp(19 * day));
    WEFT_OK(execute());
  }
  for (std::size_t i = 0; i < options_.owners; ++i) WEFT_OK(coordinator_->settle(owners_[i]));
  std::uint32_t epoch = options_.epochs;
  for (int i = 0; i < 60; ++i) {
    // The operator charges as much of a deposit of its own as fees took, and leaves its credits in
    // the ledger.
    WEFT_OK(chain_->refresh());
    const std::uint64_t fees = line().config.number("fees");
    const PublicKey operator_key = chain_->founder().public_key();
    const std::uint64_t wanted = fees + fees / 10;
    if (books_.charged_of[operator_key] < wanted)
      WEFT_OK(charge(chain_->founder(), wanted - books_.charged_of[operator_key]));
    WEFT_OK(chain_->advance(slots_to_final));
    WEFT_OK(credit_charges(SimulatedCoordinator::Crash::none));
    WEFT_OK(chain_->warp(day / 2));
    WEFT_OK(post(++epoch, false));
    WEFT_OK(chain_->warp(day / 2));
    WEFT_OK(finalise(epoch));
    const std::uint64_t rows = books_.final->root().sum - emission_in(books_.final->owners());
    if (rows == static_cast<std::uint64_t>(coordinator_->sums().settled)) break;
  }
  const std::size_t rows = books_.final->owners().size();
  std::size_t done = 0;
  for (std::size_t i = 0; i < options_.owners; ++i) {
    WEFT_OK(claim(i));
    if (++done % 1'000 == 0)
      std::fprintf(stderr, "%s\n", weft::format("claims: {} of {} owners", done, rows).c_str());
  }
  if (books_.claimed != books_.final->root().sum)
    return broken_by("not all that the last epoch gives was claimed");
  return tokens_add_up();
}

Result<> Play::tokens_add_up() {
  constexpr std::size_t at_once = 100, amount_at = 64;
  for (std::size_t from = 0; from < options_.owners; from += at_once) {
    std::vector<PublicKey> accounts;
    for (std::size_t i = from; i < std::min<std::size_t>(from + at_once, options_.owners); ++i)
      accounts.push_back(line().tokens_of(owners_[i]));
    WEFT_ASSIGN(const auto found, chain_->rpc().accounts(accounts));
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::uint64_t holds = 0;
      if (found[i])
        for (std::size_t b = 8; b-- > 0;) holds = holds << 8 | found[i]->data[amount_at + b];
      if (holds != books_.claimed_of[from + i])
        return broken_by(weft::format("{} holds {}, and its row gives {}", owners_[from + i].text(),
                                      credits_text(holds),
                                      credits_text(books_.claimed_of[from + i])));
    }
  }
  return {};
}

void Play::progress(std::uint32_t epoch) {
  std::fprintf(stderr, "%s\n",
               weft::format("epoch {} of {}: {} steps, {} refused, {} claims, {} owners, {} posted",
                            epoch, options_.epochs, tally_.steps, tally_.refused, tally_.claims,
                            books_.posted->owners().size(), credits_text(books_.posted->root().sum))
                   .c_str());
}

Result<> Play::run() {
  WEFT_OK(found());
  WEFT_OK(chain_->warp(day / 2));
  for (std::uint32_t epoch = 1; epoch <= options_.epochs; ++epoch) {
    if (epoch == at(0.1)) {
      WEFT_OK(propose_and_vote());
      voted_at_ = epoch;
    }
    if (!executed_ && voted_at_ > 0 && epoch >= voted_at_ + 19) WEFT_OK(execute());
    WEFT_OK(charges_and_credits(epoch));
    WEFT_OK(work_and_settle(epoch));
    WEFT_OK(ways_out());
    WEFT_OK(post_and_finalise(epoch));
    WEFT_OK(claims());
    if (epoch % std::max(1U, options_.epochs / 20) == 0) progress(epoch);
  }
  return close();
}

std::string outcome_json(const SimulateSettlementOptions& options, const Play& play,
                         double seconds) {
  const Tally& t = play.tally();
  return weft::format(
      R"({{"seed":{},"epochs":{},"owners":{},"steps":{},"refused":{},"looks":{},"claims":{},"claimed":{},"crashes":{},"forks":{},"forked":{},"stolen_most":{},"stolen_bound":{},"seconds":{:.1f},"kept":{},"broken":{}}})",
      options.seed, options.epochs, options.owners, t.steps, t.refused, play.looks(), t.claims,
      play.books().claimed, t.crashes, t.forks, t.forked, t.stolen_most, t.stolen_bound, seconds,
      play.broken().empty(), play.broken().empty() ? "null" : json::quote(play.broken()));
}

}  // namespace

int simulate_settlement_command(const SimulateSettlementOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  Play play(options);
  const Result<> done = play.run();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!done && play.broken().empty()) return report("simulate settlement", done.error());
  if (options.json) {
    std::printf("%s\n", outcome_json(options, play, seconds).c_str());
  } else {
    const Tally& t = play.tally();
    std::printf(
        "%s\n",
        weft::format(
            "seed {}: {} epochs, {} owners: {} steps and {} refused attempts, the sums looked at "
            "{} times; {} crashes, {} forks that took {} transactions back; {} claims paid {}. The "
            "stolen posting key could have taken {} at most, of {} that it may; it took nothing. "
            "{:.0f} s.",
            options.seed, options.epochs, options.owners, t.steps, t.refused, play.looks(),
            t.crashes, t.forks, t.forked, t.claims, credits_text(play.books().claimed),
            credits_text(t.stolen_most), credits_text(t.stolen_bound), seconds)
            .c_str());
  }
  if (!play.broken().empty())
    std::fprintf(stderr, "weft simulate settlement: BROKEN. %s.\n", play.broken().c_str());
  return play.broken().empty() ? 0 : 1;
}

}  // namespace weft::cli
