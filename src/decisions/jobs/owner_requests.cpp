#include "decisions/jobs/owner_requests.h"

#include <utility>

#include "common/base/log.h"

namespace weft::jobs {

// Checks that a key has nothing as an owner of its own: its credits would be lost, refunds of its
// jobs would join the grants of several owners, and a holder of its API key would spend the new
// owner's balance.
Result<> OwnerRequests::is_unused(const PublicKey& key) const {
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "{} {}, or make another wallet for this device.",
                key.text(), what);
  };
  if (tables_.accounts.ledger().balances(OwnerId::of_first(key)) != ledger::Balances{})
    return refuse("holds credits of its own: pay, spend or withdraw them first");
  if (keys_.has_live_key(key))
    return refuse("has made API keys: revoke them first (`weft key revoke`)");
  if (tables_.jobs.any_of_client(key))
    return refuse("has a running job of its own: wait for its end or cancel it first");
  return {};
}

void OwnerRequests::show(const PublicKey& device, Answer<OwnerView> answer) {
  Result<OwnerView> view = tables_.accounts.view(device);
  if (auto may = tables_.accounts.owners().may_act(device, ledger::Owners::Wants::managing); !may)
    view = pass(std::move(may));
  tables_.outbox.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void OwnerRequests::pay(const Payment& payment, Moment now, Answer<OwnerView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (auto may = tables_.accounts.may_spend(payment.by); !may) return reply(pass(std::move(may)));
  if (payment.amount <= 0)
    return reply(fail(ErrorCode::invalid_argument, "The amount must be above 0."));
  const OwnerId from = tables_.accounts.owner_of(payment.by);
  const OwnerId to = tables_.accounts.owner_of(payment.to);
  if (payment.source == Payment::Source::balance && from == to)
    return reply(fail(ErrorCode::invalid_argument,
                      "{} is a device of the same owner: the payment would move nothing.",
                      payment.to.text()));
  auto transaction = payment.source == Payment::Source::mint
                         ? ledger::issue(to, payment.amount, payment.number)
                         : ledger::transfer(from, to, payment.amount, payment.number);
  if (payment.source == Payment::Source::balance &&
      !tables_.accounts.ledger().knows(transaction.key))
    if (auto has = tables_.accounts.has_free(from, payment.amount, "transferred"); !has)
      return reply(pass(std::move(has)));
  if (auto moved = tables_.accounts.move(std::move(transaction), now); !moved)
    return reply(pass(std::move(moved)));
  reply(tables_.accounts.view(payment.by));
}

void OwnerRequests::settle(const Settling& settling, Moment now, Answer<OwnerView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (auto may = tables_.accounts.may_spend(settling.by); !may) return reply(pass(std::move(may)));
  if (settling.amount < tables_.settings.settle_min)
    return reply(fail(ErrorCode::invalid_argument,
                      "{:.6f} credits cannot be settled: the least amount is {:.6f}.",
                      static_cast<double>(settling.amount) / 1e6,
                      static_cast<double>(tables_.settings.settle_min) / 1e6));
  const OwnerId owner = tables_.accounts.owner_of(settling.by);
  // The chain pays the key that names the owner.
  if (const PublicKey first{{owner.bytes}}; tables_.accounts.owners().is_revoked(first))
    return reply(fail(ErrorCode::permission_denied,
                      "The chain would pay {}, a device that is revoked: pay the credits to "
                      "another owner of yours with `weft pay`, and settle them there.",
                      first.text()));
  auto transaction = ledger::settle(owner, settling.amount, settling.number);
  if (!tables_.accounts.ledger().knows(transaction.key))
    if (auto has = tables_.accounts.has_free(owner, settling.amount, "settled"); !has)
      return reply(pass(std::move(has)));
  if (auto moved = tables_.accounts.move(std::move(transaction), now); !moved)
    return reply(pass(std::move(moved)));
  reply(tables_.accounts.view(settling.by));
}

void OwnerRequests::add_device(const PublicKey& by, const OwnerId& to, store::Device device,
                               Moment now, Answer<OwnerView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (tables_.accounts.owner_of(by) != to)
    return reply(fail(ErrorCode::permission_denied, "{} is not a device of the owner {}.",
                      by.text(), to.text()));
  if (tables_.accounts.owner_of(device.key) == OwnerId::of_first(device.key)) {
    if (auto free_to_join = is_unused(device.key); !free_to_join)
      return reply(pass(std::move(free_to_join)));
  }
  // A row costs the network something, and a new wallet costs nothing.
  if (tables_.accounts.ledger().balances(tables_.accounts.owner_of(by)) == ledger::Balances{})
    return reply(fail(ErrorCode::insufficient_funds,
                      "An owner without credits at this coordinator may have only one device; {} "
                      "holds no credits.",
                      tables_.accounts.owner_of(by).text()));
  const PublicKey key = device.key;
  if (auto added = tables_.accounts.add_device(by, std::move(device), now.unix); !added)
    return reply(pass(std::move(added)));
  log_info("{} is a device of the owner {} now.", key.text(), tables_.accounts.owner_of(by).text());
  reply(tables_.accounts.view(by));
}

void OwnerRequests::revoke_device(const PublicKey& by, const PublicKey& key, Moment now,
                                  Answer<OwnerView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  auto revoked = tables_.accounts.revoke_device(by, key, now.unix);
  if (!revoked) return reply(pass(std::move(revoked)));
  if (const ConnectedWorker* const worker = tables_.workers.find(key); worker != nullptr) {
    tables_.workers.close(worker->session, ErrorCode::permission_denied,
                          "This device was revoked by its owner.");
    tables_.scheduler.remove_worker(key, scheduler::Departure::left, now.at);
    sessions_.disconnect(key, now);
  }
  log_info("{} is no longer a device of the owner {}.", key.text(), revoked->owner.text());
  // A device that revokes itself is shown the owner that it left.
  reply(tables_.accounts.view(by));
}

}  // namespace weft::jobs
