#include "decisions/jobs/grants.h"

#include <utility>

#include "common/base/format.h"

namespace weft::jobs {

Result<> Grants::grant(const OwnerId& owner, Moment now) {
  auto transaction = ledger::grant(owner, tables_.settings.grant);
  if (!tables_.settings.grants_tainted)
    transaction.entries.back().account = ledger::Account::owner(owner);
  const auto moved = tables_.accounts.move(std::move(transaction), now);
  if (!moved) return std::unexpected(moved.error());
  if (*moved == ledger::Applied::before)
    return fail(ErrorCode::already_exists, "The owner {} was granted credits before.",
                owner.text());
  return {};
}

MicroCredits Grants::of_stranger(const OwnerId& owner) const {
  return tables_.settings.grants_need_invitation || granted_.contains(owner)
             ? 0
             : tables_.settings.grant;
}

Result<> Grants::fund(const OwnerId& owner, Moment now) {
  if (of_stranger(owner) <= 0) return {};
  if (auto made = grant(owner, now); !made && made.error().code != ErrorCode::already_exists)
    return made;
  granted_.insert(owner);
  return {};
}

Error Grants::cannot_spend(const OwnerId& owner, MicroCredits budget) const {
  // The message gives both amounts in credits, not in micro-credits.
  const MicroCredits held = tables_.accounts.ledger().spendable(owner).total();
  std::string text =
      weft::format("The client's account holds {:.6f} credits; the job's budget is {:.6f}.",
                   static_cast<double>(held) / 1e6, static_cast<double>(budget) / 1e6);
  if (held == 0 && tables_.settings.grant > 0)
    text +=
        " Ask the operator for an invitation (weft invite --client) and redeem it (weft wallet "
        "redeem).";
  return {.code = ErrorCode::insufficient_funds, .message = std::move(text)};
}

void Grants::give(const GrantWanted& wanted, Moment now, Answer<OwnerView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (auto may = tables_.accounts.may_spend(wanted.client); !may)
    return reply(pass(std::move(may)));
  if (tables_.settings.grant <= 0)
    return reply(fail(ErrorCode::permission_denied,
                      "Invitations bring no credits here (weft serve --grant)."));
  const OwnerId owner = tables_.accounts.owner_of(wanted.client);
  const bool is_new =
      !tables_.accounts.ledger().knows(ledger::grant(owner, tables_.settings.grant).key);
  if (is_new && !wanted.is_own) {
    if (auto may = bounds_.may_grant(wanted.address, now.unix); !may)
      return reply(pass(std::move(may)));
  }
  if (auto made = grant(owner, now); !made) return reply(pass(std::move(made)));
  if (!wanted.is_own) bounds_.count(wanted.address);
  reply(tables_.accounts.view(wanted.client));
}

}  // namespace weft::jobs
