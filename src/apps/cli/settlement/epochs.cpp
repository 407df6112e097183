// Commands about epochs: `weft chain post`, `finalise`, `claim` and `verify`, all from the rows
// that the operator publishes.
#include "apps/cli/settlement/epochs.h"

#include <algorithm>
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/settlement/sent_file.h"
#include "common/json/quote.h"
#include "common/solana/instructions.h"
#include "decisions/settlement/epoch_rows.h"

namespace weft::cli {
namespace {

using solana::EpochState;

// Returns the emission of this epoch: the amount given with --emission, or else the total emission
// in the rows, which covers all epochs, minus that of earlier epochs. Fails with invalid_argument
// if the total in the rows is less than the emission of earlier epochs.
Result<std::uint64_t> posted_emission(const SettlementOptions& options,
                                      const solana::ProgramState& config,
                                      std::span<const solana::Earned> rows) {
  if (!options.new_tokens.empty()) return parse_credits(options.new_tokens);
  const std::uint64_t in_rows = emission_in(rows), before = config.number("emitted");
  if (in_rows < before)
    return fail(ErrorCode::invalid_argument,
                "The rows of {} have {} of emission, less than the {} that earlier epochs emitted; "
                "give the emission of this epoch with --emission.",
                options.rows.string(), credits_text(in_rows), credits_text(before));
  return in_rows - before;
}

Result<> post(const SettlementOptions& options) {
  WEFT_ASSIGN(auto rows, epoch_rows(options.rows));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  const auto& config = own.line.config;
  WEFT_ASSIGN(const std::uint64_t emission, posted_emission(options, config, rows));
  WEFT_ASSIGN(const solana::SumTree tree, solana::SumTree::create(std::move(rows)));
  if (own.own() != config.key("poster"))
    return fail(ErrorCode::permission_denied, "The poster of this network is {}, not {}.",
                config.key("poster").text(), own.own().text());
  const std::uint64_t bond =
      std::max(emission_left(own.line, options.number), config.number("bond_min"));
  WEFT_OK(has_tokens(own, bond));
  PublicKey root;
  root.bytes = tree.root().hash.bytes;
  solana::ProgramCall call = own.line.call("post");
  call.key("poster", own.own())
      .key("bond_from", own.own_tokens())
      .number("epoch", options.number)
      .data_key("root", root)
      .number("amount", tree.root().sum)
      .number("units", tree.units())
      .number("emission", emission)
      .number("depth", tree.depth());
  return call_once(
      options, own, call,
      {.what = weft::format("Posts epoch {} of {} owners, {} in all, of which {} are new tokens, "
                            "against a bond of {}, which comes back when the epoch is final.",
                            options.number, tree.owners().size(), credits_text(tree.root().sum),
                            credits_text(emission), credits_text(bond)),
       .extra = weft::format(R"("epoch":{},"root":"{}","amount":{},"units":{},"owners":{})",
                             options.number, tree.root().hash.text(), tree.root().sum, tree.units(),
                             tree.owners().size())});
}

Result<> finalise(const SettlementOptions& options) {
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(const std::uint64_t slot, own.line.pending_slot());
  solana::ProgramCall call = own.line.call("finalise");
  call.key("bond_to", own.line.config.key(weft::format("epochs.{}.bond_account", slot)))
      .number("slot", slot);
  const std::uint64_t epoch = own.line.epoch_number(slot, "epoch");
  return call_once(options, own, call,
                   {.what = weft::format("Makes epoch {} final and returns its bond.", epoch),
                    .extra = weft::format(R"("epoch":{})", epoch)});
}

std::string claim_sentence(std::uint64_t amount, const PublicKey& owner) {
  return weft::format("Claims {} for {}.", credits_text(amount), owner.text());
}

// Returns the amount of the claim for the owner that an interrupted command has signed; 0 if there
// is no such claim. The chain may already count the amount as claimed; the repeated command still
// reports the claim once (carry_out()).
Result<std::uint64_t> claim_cut_short(const SettlementOptions& options, const WalletLine& own,
                                      const PublicKey& owner) {
  WEFT_ASSIGN(const SentFile sent, SentFile::of(options.wallet));
  WEFT_ASSIGN(const auto record, sent.read());
  if (!record || record->program != own.line.network.program) return 0;
  std::string_view amount = record->what;
  amount = amount.substr(0, amount.find(" credits"));
  if (!amount.starts_with("Claims ")) return 0;
  const auto signed_for = parse_credits(std::string(amount.substr(7)));
  const bool same = signed_for && record->what == claim_sentence(*signed_for, owner);
  return same ? *signed_for : 0;
}

Result<> claim(const SettlementOptions& options) {
  WEFT_ASSIGN(auto rows, epoch_rows(options.rows));
  WEFT_ASSIGN(const solana::SumTree tree, solana::SumTree::create(std::move(rows)));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  PublicKey owner = own.own();
  if (!options.owner.empty()) {
    WEFT_ASSIGN(owner, parse_key(options.owner, "an owner"));
  }
  WEFT_ASSIGN(const std::uint64_t slot, final_slot_of(own.line, tree));
  WEFT_ASSIGN(const std::uint32_t position, tree.position(owner));
  const solana::Earned& row = tree.owners()[position];
  WEFT_ASSIGN(const auto claimed, ClaimedPages(own.line).of(row.index));
  const std::uint64_t before = claimed.value_or(0);
  std::uint64_t due = row.amount - std::min(before, row.amount);
  if (due == 0) {
    WEFT_ASSIGN(due, claim_cut_short(options, own, owner));
  }
  if (due == 0)
    return fail(ErrorCode::already_exists, "{} has claimed its {} of epoch {} already.",
                owner.text(), credits_text(row.amount), own.line.epoch_number(slot, "epoch"));
  std::vector<Act> acts;
  // Creating the page and the token account takes transactions of their own, because a claim among
  // a million owners has no room for more.
  const auto page = own.line.network.page(row.index / solana::owners_of_page);
  WEFT_ASSIGN(const chain::Lamports page_rent,
              own.line.rent_if_missing(page.address, std::size_t{8} * solana::owners_of_page));
  WEFT_ASSIGN(const chain::Lamports tokens_rent,
              own.line.rent_if_missing(own.line.tokens_of(owner), solana::token_account_bytes));
  if (page_rent > 0) {
    solana::ProgramCall open = own.line.call("open_page");
    open.key("payer", own.own())
        .key("page", page.address)
        .number("page", row.index / solana::owners_of_page);
    WEFT_ASSIGN(acts.emplace_back(),
                act_of(own, open,
                       {.what = weft::format("Opens the page of claimed amounts for {} owners.",
                                             solana::owners_of_page),
                        .rent = page_rent}));
  }
  if (tokens_rent > 0)
    acts.push_back({.what = weft::format("Makes the token account of {}.", owner.text()),
                    .plan = {.instructions = {solana::create_associated_account(
                                 own.own(), owner, own.line.network.mint)},
                             .payer = &own.wallet},
                    .rent = tokens_rent});
  WEFT_ASSIGN(const solana::ProgramCall call, claim_call(own.line, tree, owner, slot));
  WEFT_ASSIGN(Act act, act_of(own, call, {.what = claim_sentence(due, owner)}));
  act.after = !acts.empty();
  acts.push_back(std::move(act));
  return carry_out(options, *own.line.rpc, acts,
                   weft::format(R"("owner":"{}","claimed":{})", owner.text(), due), "");
}

// Returns the first difference between the rows and the epoch in this slot, by name; nullopt if
// they agree.
std::optional<std::string> difference_of(const SettlementLine& line, std::uint64_t slot,
                                         const solana::SumTree& tree) {
  const auto differ = [](std::string_view what, std::uint64_t here, std::uint64_t there) {
    return weft::format("{} is {} by these rows and {} on the chain", what, here, there);
  };
  if (tree.depth() != line.epoch_number(slot, "depth"))
    return differ("The number of levels", tree.depth(), line.epoch_number(slot, "depth"));
  if (tree.root().sum != line.epoch_number(slot, "amount"))
    return differ("The sum of amounts", tree.root().sum, line.epoch_number(slot, "amount"));
  if (tree.units() != line.epoch_number(slot, "units"))
    return differ("The sum of units", tree.units(), line.epoch_number(slot, "units"));
  if (tree.root().hash.bytes != line.epoch_root(slot).bytes)
    return weft::format("The root is {} by these rows and {} on the chain", tree.root().hash.text(),
                        to_hex(line.epoch_root(slot).span()));
  return std::nullopt;
}

Result<std::optional<std::string>> verify_epoch(const SettlementOptions& options,
                                                const SettlementLine& line, std::uint64_t slot,
                                                const std::vector<solana::Earned>& rows) {
  if (!options.against.empty()) {
    WEFT_ASSIGN(const auto there, epoch_rows(options.against));
    if (auto found = solana::first_difference(rows, there)) return found;
  }
  if (!options.previous.empty()) {
    WEFT_ASSIGN(const auto before, epoch_rows(options.previous));
    if (auto found = solana::first_loss(before, rows)) return found;
    WEFT_ASSIGN(const solana::SumTree tree, solana::SumTree::create(before));
    const std::uint64_t total = line.epoch_number(slot, "amount_before");
    if (tree.root().sum != total)
      return weft::format(
          "The rows of the previous epoch sum to {} micro-credits, but that epoch has {} on the "
          "chain",
          tree.root().sum, total);
    if (auto found = settlement::emission_difference(before, rows)) return found;
    const std::uint64_t emitted = emission_in(rows) - emission_in(before);
    if (emitted != line.epoch_number(slot, "emission"))
      return weft::format("The emission is {} by these rows and {} on the chain", emitted,
                          line.epoch_number(slot, "emission"));
  }
  auto tree = solana::SumTree::create(rows);
  if (!tree) return weft::format("No tree can be built from the rows: {}", tree.error().message);
  return difference_of(line, slot, *tree);
}

Result<bool> verify(const SettlementOptions& options) {
  WEFT_ASSIGN(const auto rows, epoch_rows(options.rows));
  WEFT_ASSIGN(const SettlementLine line, settlement_line(options));
  const std::uint64_t slot = options.number % solana::epochs_remembered;
  if (line.epoch_state(slot) == EpochState::none ||
      line.epoch_number(slot, "epoch") != options.number)
    return fail(ErrorCode::not_found,
                "The chain does not hold epoch {}; it holds the last {} that were posted, up to "
                "epoch {}.",
                options.number, solana::epochs_remembered, line.config.number("last_epoch"));
  WEFT_ASSIGN(const auto difference, verify_epoch(options, line, slot, rows));
  if (options.json) {
    std::printf("%s\n", weft::format(R"({{"epoch":{},"owners":{},"same":{},"difference":{}}})",
                                     options.number, rows.size(), !difference,
                                     difference ? json::quote(*difference) : "null")
                            .c_str());
  } else if (!difference) {
    std::printf("%s\n", weft::format("Epoch {}: the rows of {} owners make the root on the chain, "
                                     "{} in all.",
                                     options.number, rows.size(),
                                     credits_text(line.epoch_number(slot, "amount")))
                            .c_str());
  }
  if (difference) std::fprintf(stderr, "weft chain verify: %s.\n", difference->c_str());
  return !difference;
}

int epochs_done(const char* command, const Result<>& done) {
  return done ? 0 : report(command, done.error());
}

}  // namespace

Result<std::uint64_t> final_slot_of(const SettlementLine& line, const solana::SumTree& tree) {
  std::optional<std::uint64_t> found;
  for (std::uint64_t slot = 0; slot < solana::epochs_remembered; ++slot) {
    if (line.epoch_state(slot) != EpochState::final ||
        line.epoch_root(slot).bytes != tree.root().hash.bytes ||
        line.epoch_number(slot, "amount") != tree.root().sum)
      continue;
    if (!found || line.epoch_number(slot, "epoch") > line.epoch_number(*found, "epoch"))
      found = slot;
  }
  if (!found)
    return fail(ErrorCode::not_found,
                "The rows make the root {}, which no final epoch has; `weft chain status` lists "
                "the epochs.",
                tree.root().hash.text());
  return *found;
}

Result<solana::ProgramCall> claim_call(const SettlementLine& line, const solana::SumTree& tree,
                                       const PublicKey& owner, std::uint64_t slot) {
  WEFT_ASSIGN(const std::uint32_t position, tree.position(owner));
  const solana::Earned& row = tree.owners()[position];
  const auto page = line.network.page(row.index / solana::owners_of_page);
  solana::ProgramCall call = line.call("claim");
  call.key("page", page.address)
      .key("to", line.tokens_of(owner))
      .number("page_bump", page.bump)
      .number("place", slot | std::uint64_t{row.index} << 4U | std::uint64_t{position} << 25U)
      .number("amount", row.amount)
      .number("units", row.units);
  call.tail(path_bytes(tree.path(position)));
  return call;
}

Result<std::optional<std::uint64_t>> ClaimedPages::of(std::uint32_t index) {
  const std::uint32_t number = index / solana::owners_of_page;
  auto found = pages_.find(number);
  if (found == pages_.end()) {
    WEFT_ASSIGN(auto page, line_.rpc->account(line_.network.page(number).address));
    const bool open = page && page->owner == line_.network.program;
    found =
        pages_.emplace(number, open ? std::optional(std::move(page->data)) : std::nullopt).first;
  }
  if (!found->second) return std::nullopt;
  const ByteVector& data = *found->second;
  const std::size_t at = std::size_t{8} * (index % solana::owners_of_page);
  if (data.size() < at + 8)
    return fail(ErrorCode::data_loss,
                "The page of claimed amounts has {} bytes, too few for the owner's entry.",
                data.size());
  std::uint64_t out = 0;
  for (std::size_t i = 8; i-- > 0;) out = out << 8 | data[at + i];
  return out;
}

Result<std::vector<solana::Earned>> epoch_rows(const std::filesystem::path& path) {
  WEFT_ASSIGN(const ByteVector bytes, read_file(path));
  auto rows = solana::parse_owner_rows(as_text(bytes));
  if (!rows) return pass(std::move(rows), "while reading {}", path.string());
  return rows;
}

ByteVector path_bytes(const solana::SumPath& path) {
  ByteVector out;
  for (const solana::SumNode& node : path.siblings) {
    append(out, node.hash.span());
    append_le(out, node.sum);
  }
  return out;
}

int chain_post_command(const SettlementOptions& options) {
  return epochs_done("chain post", post(options));
}
int chain_finalise_command(const SettlementOptions& options) {
  return epochs_done("chain finalise", finalise(options));
}
int chain_claim_command(const SettlementOptions& options) {
  return epochs_done("chain claim", claim(options));
}
int chain_verify_command(const SettlementOptions& options) {
  const auto same = verify(options);
  if (!same) return report("chain verify", same.error());
  return *same ? 0 : 1;
}

}  // namespace weft::cli
