// Evidence against the root in its challenge window: `weft chain challenge demand`, `answer`,
// `void`, `order`, `sum`, `fell` and `statement`.
#include <algorithm>

#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/settlement/epochs.h"
#include "common/json/json.h"
#include "common/solana/instructions.h"
#include "common/solana/owner_rows.h"
#include "common/solana/wrong_sum.h"

namespace weft::cli {
namespace {

// The slot of a root in the ring, and its tree.
struct RootTree {
  std::uint64_t slot = 0;
  solana::SumTree tree;
};
// Makes the tree of the pending root from the rows in their published order.
Result<RootTree> pending_tree(const SettlementOptions& options, const WalletLine& own) {
  WEFT_ASSIGN(auto rows, epoch_rows(options.rows));
  WEFT_ASSIGN(const std::uint64_t slot, own.line.pending_slot());
  RootTree out{.slot = slot, .tree = solana::SumTree::as_given(std::move(rows))};
  if (out.tree.root().hash.bytes != own.line.epoch_root(slot).bytes)
    return fail(
        ErrorCode::invalid_argument,
        "The rows of {} do not make the pending root, that of epoch {}. If the operator published "
        "them, demand an owner's path: the answer shows which of the two is right.",
        options.rows.string(), own.line.epoch_number(slot, "epoch"));
  return out;
}

// Returns the address of a leaf on the chain; adds an act that writes the leaf if the wallet has
// not written it yet.
Result<PublicKey> show_leaf(const WalletLine& own, const RootTree& of, std::uint32_t position,
                            std::vector<Act>& acts) {
  const PublicKey root = own.line.epoch_root(of.slot);
  const PublicKey address = own.line.network.shown_leaf(root, position, own.own());
  WEFT_ASSIGN(const chain::Lamports rent,
              own.line.rent_if_missing(address, solana::state_layout("shown").bytes));
  if (rent == 0) return address;
  solana::ProgramCall call = own.line.call("show_leaf");
  call.key("payer", own.own())
      .key("leaf", address)
      .number("slot", of.slot)
      .number("position", position);
  if (position < of.tree.owners().size()) {
    const solana::Earned& row = of.tree.owners()[position];
    call.number("filled", 1)
        .data_key("owner", row.owner)
        .number("index", row.index)
        .number("amount", row.amount)
        .number("units", row.units);
  }
  call.tail(path_bytes(of.tree.path(position)));
  WEFT_ASSIGN(acts.emplace_back(),
              act_of(own, call,
                     {.what = weft::format("Shows leaf {} of the root of epoch {}.", position,
                                           own.line.epoch_number(of.slot, "epoch")),
                      .rent = rent}));
  return address;
}

struct Leaves {
  PublicKey left;
  PublicKey right;
};
// Shows where an owner is in sorted rows: its leaf, given twice, or the two neighbours between
// which it would be.
Result<Leaves> show_place(const WalletLine& own, const RootTree& pending, const PublicKey& owner,
                          std::vector<Act>& acts) {
  const auto rows = pending.tree.owners();
  const auto at = std::ranges::lower_bound(rows, owner, {}, &solana::Earned::owner);
  const auto position = static_cast<std::uint32_t>(at - rows.begin());
  const bool there = at != rows.end() && at->owner == owner;
  const bool behind_all = position >> pending.tree.depth() != 0;
  const std::uint32_t left = there || position == 0 ? position : position - 1;
  const std::uint32_t right = behind_all ? left : position;
  WEFT_ASSIGN(const PublicKey left_leaf, show_leaf(own, pending, left, acts));
  if (left == right) return Leaves{left_leaf, left_leaf};
  WEFT_ASSIGN(const PublicKey right_leaf, show_leaf(own, pending, right, acts));
  return Leaves{left_leaf, right_leaf};
}

// Sends the acts that show the leaves, and after them the call that uses the leaves.
Result<> with_leaves(const SettlementOptions& options, const WalletLine& own, std::vector<Act> acts,
                     const solana::ProgramCall& call, OneCall more) {
  WEFT_ASSIGN(Act act, act_of(own, call, std::move(more)));
  act.after = !acts.empty();
  acts.push_back(std::move(act));
  return carry_out(options, *own.line.rpc, acts, "", "");
}

Result<> demand(const SettlementOptions& options) {
  WEFT_ASSIGN(const PublicKey owner, parse_key(options.owner, "an owner"));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(const std::uint64_t slot, own.line.pending_slot());
  WEFT_ASSIGN(const chain::Lamports rent, own.line.rent_of_state("demand"));
  solana::ProgramCall call = own.line.call("demand");
  call.key("payer", own.own())
      .key("demand", own.line.network.demand(own.line.epoch_number(slot, "post"), owner))
      .number("slot", slot)
      .data_key("owner", owner);
  const std::uint64_t pay = own.line.config.number("demand_lamports");
  return call_once(options, own, call,
                   {.what = weft::format("Demands the path of {}; the answer is paid {}.",
                                         owner.text(), sol_text(pay)),
                    .rent = rent + pay});
}

Result<> answer(const SettlementOptions& options) {
  WEFT_ASSIGN(const PublicKey owner, parse_key(options.owner, "an owner"));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(const RootTree pending, pending_tree(options, own));
  std::vector<Act> acts;
  WEFT_ASSIGN(const Leaves leaves, show_place(own, pending, owner, acts));
  solana::ProgramCall call = own.line.call("answer");
  call.key("answerer", own.own())
      .key("demand", own.line.network.demand(own.line.epoch_number(pending.slot, "post"), owner))
      .key("left", leaves.left)
      .key("right", leaves.right)
      .number("slot", pending.slot);
  return with_leaves(options, own, std::move(acts), call,
                     {.what = weft::format("Answers the demand of {}'s path.", owner.text())});
}

Result<> void_unanswered(const SettlementOptions& options) {
  WEFT_ASSIGN(const PublicKey owner, parse_key(options.owner, "an owner"));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  // If options.number names the post of a root that is no longer in its window, this command closes
  // the demand about that root.
  std::uint64_t post = options.number;
  if (post == 0) {
    WEFT_ASSIGN(const std::uint64_t slot, own.line.pending_slot());
    post = own.line.epoch_number(slot, "post");
  }
  const PublicKey address = own.line.network.demand(post, owner);
  WEFT_ASSIGN(const auto demanded, own.line.state("demand", address));
  if (!demanded)
    return fail(ErrorCode::not_found, "No demand for the path of {} is open against post {}.",
                owner.text(), post);
  OneCall more{.what = "Voids the root, whose path was demanded and not shown."};
  WEFT_OK(make_own_tokens(own, more));
  solana::ProgramCall call = own.line.call("void_unanswered");
  call.key("payer", demanded->key("payer"))
      .key("demand", address)
      .key("bounty_to", own.own_tokens());
  return call_once(options, own, call, std::move(more));
}

// Finds two leaves that cannot both be in a sorted tree; the lower position is first.
std::optional<std::pair<std::uint32_t, std::uint32_t>> out_of_order(
    std::span<const solana::Earned> rows) {
  for (std::uint32_t i = 1; i < rows.size(); ++i)
    if (!(rows[i - 1].owner < rows[i].owner)) return std::pair(i - 1, i);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_index;
  by_index.reserve(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) by_index.emplace_back(rows[i].index, i);
  std::ranges::sort(by_index);
  for (std::size_t i = 1; i < by_index.size(); ++i)
    if (by_index[i - 1].first == by_index[i].first)
      return std::pair(by_index[i - 1].second, by_index[i].second);
  return std::nullopt;
}

Result<> order(const SettlementOptions& options) {
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(const RootTree pending, pending_tree(options, own));
  const auto wrong = out_of_order(pending.tree.owners());
  if (!wrong)
    return fail(
        ErrorCode::not_found,
        "Nothing can be proven: the rows of {} are in order, and each owner and index occurs once.",
        options.rows.string());
  std::vector<Act> acts;
  WEFT_ASSIGN(const PublicKey left, show_leaf(own, pending, wrong->first, acts));
  WEFT_ASSIGN(const PublicKey right, show_leaf(own, pending, wrong->second, acts));
  OneCall more{.what = weft::format("Voids the root: its leaves {} and {} are not in order.",
                                    wrong->first, wrong->second)};
  WEFT_OK(make_own_tokens(own, more));
  solana::ProgramCall call = own.line.call("prove_order");
  call.key("left", left)
      .key("right", right)
      .key("bounty_to", own.own_tokens())
      .number("slot", pending.slot);
  return with_leaves(options, own, std::move(acts), call, std::move(more));
}

// Voids a root that takes from an owner an amount of the last final root.
Result<> fell(const SettlementOptions& options) {
  WEFT_ASSIGN(auto rows_before, epoch_rows(options.previous));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(const RootTree pending, pending_tree(options, own));
  RootTree before{.slot = 0, .tree = solana::SumTree::as_given(std::move(rows_before))};
  WEFT_ASSIGN(before.slot, final_slot_of(own.line, before.tree));
  const std::uint64_t last = own.line.epoch_number(pending.slot, "epoch_before");
  if (own.line.epoch_number(before.slot, "epoch") != last)
    return fail(ErrorCode::invalid_argument,
                "The rows of {} are those of epoch {}; the proof needs the rows of the last final "
                "epoch, {}.",
                options.previous.string(), own.line.epoch_number(before.slot, "epoch"), last);
  const auto owner = solana::first_provable_loss(before.tree.owners(), pending.tree.owners());
  if (!owner)
    return fail(ErrorCode::not_found,
                "Nothing can be proven: the rows of {} give each owner of {} at least what it had.",
                options.rows.string(), options.previous.string());
  std::vector<Act> acts;
  WEFT_ASSIGN(const std::uint32_t position, before.tree.position(*owner));
  WEFT_ASSIGN(const PublicKey had, show_leaf(own, before, position, acts));
  WEFT_ASSIGN(const Leaves leaves, show_place(own, pending, *owner, acts));
  OneCall more{.what = weft::format("Voids the root, which takes from {} what epoch {} gave it.",
                                    owner->text(), own.line.epoch_number(before.slot, "epoch"))};
  WEFT_OK(make_own_tokens(own, more));
  solana::ProgramCall call = own.line.call("prove_fell");
  call.key("before", had)
      .key("left", leaves.left)
      .key("right", leaves.right)
      .key("bounty_to", own.own_tokens())
      .number("slot", pending.slot);
  return with_leaves(options, own, std::move(acts), call, std::move(more));
}

PublicKey key_of_hash(const Hash& hash) {
  PublicKey out;
  out.bytes = hash.bytes;
  return out;
}

// Voids a root whose published rows sum to less than its amount.
Result<> sum(const SettlementOptions& options) {
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(auto rows, epoch_rows(options.rows));
  WEFT_ASSIGN(const std::uint64_t slot, own.line.pending_slot());
  const solana::SumTree tree = solana::SumTree::as_given(std::move(rows));
  solana::SumNode root{.hash = {}, .sum = own.line.epoch_number(slot, "amount")};
  root.hash.bytes = own.line.epoch_root(slot).bytes;
  if (root == tree.root())
    return fail(
        ErrorCode::not_found,
        "Nothing can be proven: the rows of {} make the pending root, and its sums are right.",
        options.rows.string());
  const auto wrong = solana::find_wrong_sum(tree, root);
  if (!wrong)
    return fail(ErrorCode::invalid_argument,
                "No single wrong sum explains how the pending root of epoch {} differs from the "
                "rows of {}. If the operator published these rows, demand the path of an owner: no "
                "path below a wrong sum can be shown.",
                own.line.epoch_number(slot, "epoch"), options.rows.string());
  OneCall more{.what = weft::format(
                   "Voids the root: the {} owners from row {} on have {} in all, and the root's "
                   "node for them says {}.",
                   1U << wrong->level, std::uint64_t{wrong->position} << wrong->level,
                   credits_text(wrong->left.sum + wrong->right.sum), credits_text(wrong->sum))};
  WEFT_OK(make_own_tokens(own, more));
  solana::ProgramCall call = own.line.call("prove_sum");
  call.key("bounty_to", own.own_tokens())
      .number("slot", slot)
      .number("position", wrong->position)
      .number("sum", wrong->sum)
      .data_key("left", key_of_hash(wrong->left.hash))
      .number("left_sum", wrong->left.sum)
      .data_key("right", key_of_hash(wrong->right.hash))
      .number("right_sum", wrong->right.sum);
  call.tail(path_bytes({.position = wrong->position, .siblings = wrong->siblings}));
  return call_once(options, own, call, std::move(more));
}

struct SignedStatement {
  solana::EarningStatement statement;
  Signature signature;
};
// Reads {"owner": KEY, "epoch": N, "amount": MICRO_CREDITS, "units": N, "signature": SIGNATURE}.
Result<SignedStatement> read_statement(const std::filesystem::path& path) {
  WEFT_ASSIGN(const ByteVector text, read_file(path));
  WEFT_ASSIGN(const json::Value root,
              json::parse(as_text(text), {.bytes_max = 65536, .depth_max = 4}));
  WEFT_ASSIGN(const json::Object object,
              root.object({"owner", "epoch", "amount", "units", "signature"}));
  SignedStatement out;
  const auto number = [&](std::string_view name, std::uint64_t& to) -> Result<> {
    WEFT_ASSIGN(const json::Value value, object.get(name));
    WEFT_ASSIGN(to, value.unsigned_integer(std::uint64_t{1} << 62));
    return {};
  };
  WEFT_OK(number("epoch", out.statement.epoch));
  WEFT_OK(number("amount", out.statement.amount));
  WEFT_OK(number("units", out.statement.units));
  WEFT_ASSIGN(const json::Value owner, object.get("owner"));
  WEFT_ASSIGN(const std::string owner_text, owner.string());
  WEFT_ASSIGN(out.statement.owner, parse_key(owner_text, "an owner"));
  WEFT_ASSIGN(const json::Value signature, object.get("signature"));
  WEFT_ASSIGN(const std::string signature_text, signature.string());
  WEFT_ASSIGN(out.signature, Signature::parse(signature_text));
  return out;
}

Result<> prove_statement(const SettlementOptions& options) {
  auto read = read_statement(options.message);
  if (!read) return pass(std::move(read), "while reading {}", options.message.string());
  const SignedStatement& said = *read;
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(const RootTree pending, pending_tree(options, own));
  const solana::EarningStatement& promise = said.statement;
  const PublicKey coordinator = own.line.config.key("coordinator");
  const Hash digest = solana::statement_digest(own.line.signing_place(), promise);
  if (!crypto::verify_now(coordinator, digest.span(), said.signature))
    return fail(ErrorCode::invalid_argument,
                "The statement is not signed by the coordinator {} for this network.",
                coordinator.text());
  const auto rows = pending.tree.owners();
  const auto at = std::ranges::lower_bound(rows, promise.owner, {}, &solana::Earned::owner);
  const bool there = at != rows.end() && at->owner == promise.owner;
  if (there && at->amount >= promise.amount && at->units >= promise.units)
    return fail(ErrorCode::not_found,
                "Nothing can be proven: the pending root gives {} at least what was promised.",
                promise.owner.text());
  std::vector<Act> acts;
  WEFT_ASSIGN(const Leaves leaves, show_place(own, pending, promise.owner, acts));
  solana::ProgramCall call = own.line.call(there ? "prove_less" : "prove_missing");
  if (there) {
    call.key("leaf", leaves.left);
  } else {
    call.key("left", leaves.left).key("right", leaves.right).data_key("owner", promise.owner);
  }
  OneCall more{.what = weft::format("Voids the root, which {} {}.",
                                    there ? "gives less than was signed to" : "leaves out",
                                    promise.owner.text())};
  WEFT_OK(make_own_tokens(own, more));
  const solana::SignedDigest proof{
      .key = coordinator, .signature = said.signature, .digest = digest};
  more.before.push_back(solana::check_signatures({&proof, 1}));
  call.key("bounty_to", own.own_tokens())
      .number("slot", pending.slot)
      .number("epoch", promise.epoch)
      .number("amount", promise.amount)
      .number("units", promise.units);
  return with_leaves(options, own, std::move(acts), call, std::move(more));
}

int evidence_done(const char* command, const Result<>& done) {
  return done ? 0 : report(command, done.error());
}

}  // namespace

int chain_demand_command(const SettlementOptions& options) {
  return evidence_done("chain challenge demand", demand(options));
}
int chain_answer_command(const SettlementOptions& options) {
  return evidence_done("chain challenge answer", answer(options));
}
int chain_void_command(const SettlementOptions& options) {
  return evidence_done("chain challenge void", void_unanswered(options));
}
int chain_order_command(const SettlementOptions& options) {
  return evidence_done("chain challenge order", order(options));
}
int chain_sum_command(const SettlementOptions& options) {
  return evidence_done("chain challenge sum", sum(options));
}
int chain_fell_command(const SettlementOptions& options) {
  return evidence_done("chain challenge fell", fell(options));
}
int chain_statement_command(const SettlementOptions& options) {
  return evidence_done("chain challenge statement", prove_statement(options));
}

}  // namespace weft::cli
