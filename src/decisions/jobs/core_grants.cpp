// Grants: credits that an invited client is given once.
#include "common/base/format.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

Result<> Core::State::grant(const OwnerId& owner, Moment now) {
  auto transaction = ledger::grant(owner, settings.grant);
  if (!settings.grants_tainted) transaction.entries.back().account = ledger::Account::owner(owner);
  const auto moved = move_money(std::move(transaction), now);
  if (!moved) return std::unexpected(moved.error());
  if (*moved == ledger::Applied::before)
    return fail(ErrorCode::already_exists, "The owner {} was granted credits before.",
                owner.text());
  return {};
}

MicroCredits Core::State::grant_of_stranger(const OwnerId& owner) const {
  return settings.grants_need_invitation || granted.contains(owner) ? 0 : settings.grant;
}

Result<> Core::State::fund(const OwnerId& owner, Moment now) {
  if (grant_of_stranger(owner) <= 0) return {};
  if (auto made = grant(owner, now); !made && made.error().code != ErrorCode::already_exists)
    return made;
  granted.insert(owner);
  return {};
}

Error Core::State::cannot_spend(const OwnerId& owner, MicroCredits budget) const {
  // Both in credits, as people write them.
  const MicroCredits held = ledger.spendable(owner).total();
  std::string text =
      weft::format("The client's account holds {:.6f} credits; the job's budget is {:.6f}.",
                   static_cast<double>(held) / 1e6, static_cast<double>(budget) / 1e6);
  if (held == 0 && settings.grant > 0)
    text +=
        " Ask the operator for an invitation (weft invite --client) and redeem it (weft wallet "
        "redeem).";
  return {.code = ErrorCode::insufficient_funds, .message = std::move(text)};
}

void Core::grant(const GrantWanted& wanted, Moment now, Answer<OwnerView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (auto may = state.owners.may_act(wanted.client, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  if (state.settings.grant <= 0)
    return reply(fail(ErrorCode::permission_denied,
                      "Invitations bring no credits here (weft serve --grant)."));
  const OwnerId owner = state.owner_of(wanted.client);
  const bool is_new = !state.ledger.knows(ledger::grant(owner, state.settings.grant).key);
  if (is_new && !wanted.is_own) {
    if (auto may = state.grant_bounds.may_grant(wanted.address, now.unix); !may)
      return reply(pass(std::move(may)));
  }
  if (auto made = state.grant(owner, now); !made) return reply(pass(std::move(made)));
  if (!wanted.is_own) state.grant_bounds.count(wanted.address);
  reply(state.owner_view(wanted.client));
}

}  // namespace weft::jobs
