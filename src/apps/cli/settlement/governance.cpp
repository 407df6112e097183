// Commands of guardians and voters: `weft chain freeze`, `decide`, `propose`, `vote`, `execute`.
#include <algorithm>
#include <charconv>

#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/wallet_choice.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

enum class ProposedAction : std::uint8_t { parameter, payment, poster, guardian, coordinator };

Result<> freeze(const SettlementOptions& options) {
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  solana::ProgramCall call = own.line.call("freeze");
  call.key("guardian", own.own());
  return call_once(options, own, call,
                   {.what = "Freezes posts and the challenge window until a quorum decides."});
}

Result<> decide(const SettlementOptions& options) {
  if (!options.voids && !options.thaws && options.poster.empty())
    return fail(
        ErrorCode::invalid_argument,
        "The decision is missing: give --void, --thaw or --poster KEY, or several of them.");
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  solana::ProgramCall call = own.line.call("decide");
  call.number("voids", options.voids ? 1 : 0).number("thaws", options.thaws ? 1 : 0);
  if (!options.poster.empty()) {
    WEFT_ASSIGN(const PublicKey poster, parse_key(options.poster, "a poster"));
    call.data_key("poster", poster);
  }
  std::vector<crypto::KeyPair> guardians;
  for (const auto& path : options.guardian_wallets) {
    WEFT_ASSIGN(crypto::KeyPair guardian, wallet_there(path));
    guardians.push_back(std::move(guardian));
  }
  OneCall more{.what = weft::format("{} guardians decide:{}{}{}", guardians.size(),
                                    options.voids ? " the root is void;" : "",
                                    options.thaws ? " posts go on;" : "",
                                    options.poster.empty() ? "" : " another poster.")};
  for (const crypto::KeyPair& guardian : guardians) {
    call.signer(guardian.public_key());
    more.signers.push_back(&guardian);
  }
  return call_once(options, own, call, std::move(more));
}

Result<std::uint64_t> number_of(const std::string& text, std::string_view what) {
  std::uint64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return fail(ErrorCode::invalid_argument, "\"{}\" is not {}.", text.substr(0, 100), what);
  return out;
}

struct Proposed {
  ProposedAction action = ProposedAction::parameter;
  std::uint64_t parameter = 0;
  std::uint64_t value = 0;
  PublicKey target;
};
// Parses KIND [NAME|NUMBER|CREDITS] VALUE, given in options.word, options.owner and options.target.
Result<Proposed> proposed(const SettlementOptions& options) {
  Proposed out;
  if (options.word == "set") {
    const auto bounds = solana::parameter_bounds();
    const auto found = std::ranges::find(bounds, options.owner, &solana::ParameterBounds::name);
    if (found == bounds.end())
      return fail(ErrorCode::invalid_argument,
                  "\"{}\" is no parameter; `weft chain status` lists them.",
                  options.owner.substr(0, 100));
    out.parameter = static_cast<std::uint64_t>(found - bounds.begin());
    WEFT_ASSIGN(out.value, number_of(options.target, "a number"));
    if (out.value < found->least || out.value > found->most)
      return fail(ErrorCode::invalid_argument, "The parameter {} must be from {} to {}, not {}.",
                  found->name, found->least, found->most, out.value);
    return out;
  }
  const auto target = [&](const std::string& text, std::string_view what) -> Result<> {
    WEFT_ASSIGN(out.target, parse_key(text, what));
    return {};
  };
  if (options.word == "pay") {
    out.action = ProposedAction::payment;
    WEFT_ASSIGN(out.value, parse_credits(options.owner));
    WEFT_OK(target(options.target, "an owner"));
  } else if (options.word == "guardian") {
    out.action = ProposedAction::guardian;
    WEFT_ASSIGN(out.value, number_of(options.owner, "a guardian's number, from 0"));
    WEFT_OK(target(options.target, "a guardian"));
  } else {
    out.action = options.word == "poster" ? ProposedAction::poster : ProposedAction::coordinator;
    if (!options.target.empty())
      return fail(ErrorCode::invalid_argument, "`propose {}` takes one key.", options.word);
    WEFT_OK(target(options.owner, "its new holder"));
  }
  return out;
}

// Describes the effect of a proposal on the chain.
std::string proposal_text(const solana::ProgramState& proposal) {
  const std::uint64_t value = proposal.number("value");
  const std::string target = proposal.key("target").text();
  switch (static_cast<ProposedAction>(proposal.number("action"))) {
    case ProposedAction::parameter:
      return weft::format("set {} to {}",
                          solana::parameter_bounds()[proposal.number("parameter")].name, value);
    case ProposedAction::payment:
      return weft::format("pay {} of the treasury to the token account {}", credits_text(value),
                          target);
    case ProposedAction::poster:
      return weft::format("{} posts epochs", target);
    case ProposedAction::guardian:
      return weft::format("{} is guardian {}", target, value);
    case ProposedAction::coordinator:
      return weft::format("{} is the coordinator", target);
  }
  return "an action that this version does not know";
}

Result<> propose(const SettlementOptions& options) {
  WEFT_ASSIGN(Proposed what, proposed(options));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_OK(has_account(own, "stake", own.line.network.stake(own.own()), "stake"));
  // A payment proposal names the recipient's token account.
  if (what.action == ProposedAction::payment) what.target = own.line.tokens_of(what.target);
  const std::uint64_t number = own.line.config.number("proposals");
  WEFT_ASSIGN(const chain::Lamports rent, own.line.rent_of_state("proposal"));
  solana::ProgramCall call = own.line.call("propose");
  call.key("owner", own.own())
      .key("stake", own.line.network.stake(own.own()))
      .key("proposal", own.line.network.proposal(number))
      .number("action", static_cast<std::uint64_t>(what.action))
      .number("parameter", what.parameter)
      .number("value", what.value)
      .data_key("target", what.target);
  return call_once(
      options, own, call,
      {.what = weft::format("Proposes: {} {} {}", options.word, options.owner, options.target),
       .rent = rent,
       .extra = weft::format(R"("proposal":{})", number)});
}

Result<> vote(const SettlementOptions& options) {
  if (options.word != "yes" && options.word != "no")
    return fail(ErrorCode::invalid_argument, "A vote is yes or no, not \"{}\".",
                options.word.substr(0, 100));
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  const PublicKey stake = own.line.network.stake(own.own());
  const PublicKey proposal = own.line.network.proposal(options.number);
  WEFT_ASSIGN(const auto there, own.line.state("proposal", proposal));
  if (!there) return fail(ErrorCode::not_found, "The network has no proposal {}.", options.number);
  WEFT_OK(has_account(own, "stake", stake, "stake"));
  WEFT_ASSIGN(const chain::Lamports rent, own.line.rent_of_state("vote"));
  solana::ProgramCall call = own.line.call("vote");
  call.key("owner", own.own())
      .key("stake", stake)
      .key("proposal", proposal)
      .key("vote", own.line.network.vote(proposal, stake))
      .number("yes", options.word == "yes" ? 1 : 0);
  return call_once(options, own, call,
                   {.what = weft::format("Votes {} on proposal {}, {}; the stake is locked to "
                                         "the end of the vote.",
                                         options.word, options.number, proposal_text(*there)),
                    .rent = rent});
}

Result<> execute(const SettlementOptions& options) {
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  const PublicKey address = own.line.network.proposal(options.number);
  WEFT_ASSIGN(const auto proposal, own.line.state("proposal", address));
  if (!proposal)
    return fail(ErrorCode::not_found, "The network has no proposal {}.", options.number);
  // The instruction always names a token account. A payment pays to it; other proposals do not use
  // it, and name the treasury.
  const bool pays =
      proposal->number("action") == static_cast<std::uint64_t>(ProposedAction::payment);
  solana::ProgramCall call = own.line.call("execute");
  call.key("proposal", address)
      .key("to", pays ? proposal->key("target") : own.line.config.key("treasury"));
  return call_once(options, own, call,
                   {.what = weft::format("Carries out proposal {}: {}.", options.number,
                                         proposal_text(*proposal))});
}

int governance_done(const char* command, const Result<>& done) {
  return done ? 0 : report(command, done.error());
}

}  // namespace

int chain_freeze_command(const SettlementOptions& options) {
  return governance_done("chain freeze", freeze(options));
}
int chain_decide_command(const SettlementOptions& options) {
  return governance_done("chain decide", decide(options));
}
int chain_propose_command(const SettlementOptions& options) {
  return governance_done("chain propose", propose(options));
}
int chain_vote_command(const SettlementOptions& options) {
  return governance_done("chain vote", vote(options));
}
int chain_execute_command(const SettlementOptions& options) {
  return governance_done("chain execute", execute(options));
}

}  // namespace weft::cli
