#include "decisions/ledger/answer_pay.h"

#include <algorithm>
#include <limits>

#include "common/base/format.h"

namespace weft::ledger {
namespace {

__extension__ using Wide = __int128;  // An extension of GCC and Clang.

std::string credits(MicroCredits amount) {
  return weft::format("{}.{:06}", amount / 1'000'000, amount % 1'000'000);
}

}  // namespace

MicroCredits price_of_tokens(std::uint64_t tokens, MicroCredits price) {
  const auto whole = (static_cast<Wide>(tokens) * std::max<MicroCredits>(price, 0) + 999) / 1000;
  return static_cast<MicroCredits>(std::min<Wide>(whole, std::numeric_limits<MicroCredits>::max()));
}

Transaction open_answer(const JobId& answer, const OwnerId& client, MicroCredits amount,
                        std::string_view model, const Funds& has) {
  Transaction transaction{
      .key = "answer-open:" + answer.text(),
      .job = answer,
      .entries = {},
      .what = weft::format("sets {} credits aside for an answer of {}", credits(amount), model)};
  const Funds funds = granted_first(has, amount);
  post_owner(transaction.entries, client, funds, Sign::take);
  post_escrow(transaction.entries, answer, funds, Sign::add);
  return transaction;
}

namespace {

// Returns the share of each worker in an answer's pay.
std::vector<MicroCredits> shares_of(const AnswerPay& pay, std::span<const AnswerWork> workers) {
  Wide all = 0;
  for (const AnswerWork& one : workers) all += static_cast<Wide>(one.work);
  const MicroCredits due = all == 0 ? 0 : std::clamp<MicroCredits>(pay.due, 0, pay.held.total());
  std::vector<MicroCredits> shares;
  shares.reserve(workers.size());
  for (const AnswerWork& one : workers)
    shares.push_back(all == 0 ? 0
                              : static_cast<MicroCredits>(static_cast<Wide>(due) *
                                                          static_cast<Wide>(one.work) / all));
  return shares;
}

}  // namespace

MicroCredits paid_for_answer(const AnswerPay& pay, std::span<const AnswerWork> workers) {
  MicroCredits paid = 0;
  for (const MicroCredits share : shares_of(pay, workers)) paid += share;
  return paid;
}

Transaction end_answer(const AnswerPay& pay, std::span<const AnswerWork> workers,
                       std::string_view why) {
  const std::vector<MicroCredits> shares = shares_of(pay, workers);
  MicroCredits paid = 0;
  for (const MicroCredits share : shares) paid += share;
  const Funds spent = granted_first(pay.held, paid);
  Transaction transaction{
      .key = "answer-end:" + pay.answer.text(),
      .job = pay.answer,
      .entries = {},
      .what = paid == 0 ? weft::format("returns {} credits: {}", credits(pay.held.total()), why)
                        : weft::format("pays {} credits for an answer of {} tokens, {}",
                                       credits(paid), pay.tokens, why)};
  post_escrow(transaction.entries, pay.answer, pay.held, Sign::take);
  const std::vector<Funds> parts = divide(spent, shares);
  for (std::size_t i = 0; i < workers.size(); ++i)
    post_owner(transaction.entries, workers[i].worker, parts[i], Sign::add);
  post_owner(transaction.entries, pay.client,
             {.free = pay.held.free - spent.free, .granted = pay.held.granted - spent.granted},
             Sign::add);
  return transaction;
}

Transaction grant_with_key(std::string_view key, const OwnerId& client, MicroCredits amount) {
  return {.key = weft::format("grant-key:{}", key),
          .job = {},
          .entries = {{Account::mint(), -amount}, {Account::granted(client), amount}},
          .what = weft::format("the operator gives {} credits with an API key", credits(amount))};
}

}  // namespace weft::ledger
