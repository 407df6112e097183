#include "service/ledger/answer_pay.h"

#include <algorithm>
#include <format>
#include <limits>

namespace weft::ledger {
namespace {

__extension__ using Wide = __int128;  // Both compilers have it.

std::string credits(MicroCredits amount) { return std::format("{}.{:06}", amount / 1'000'000, amount % 1'000'000); }

}  // namespace

MicroCredits price_of_tokens(std::uint64_t tokens, MicroCredits price) {
  const auto whole = (static_cast<Wide>(tokens) * std::max<MicroCredits>(price, 0) + 999) / 1000;
  return static_cast<MicroCredits>(std::min<Wide>(whole, std::numeric_limits<MicroCredits>::max()));
}

Transaction open_answer(const JobId& answer, const PublicKey& client, MicroCredits amount, std::string_view model) {
  return {.key = "answer-open:" + answer.text(),
          .job = answer,
          .entries = {{Account::client(client), -amount}, {Account::escrow(answer), amount}},
          .what = std::format("sets {} credits aside for an answer of {}", credits(amount), model)};
}

Transaction end_answer(const AnswerPay& pay, std::span<const AnswerWork> workers, std::string_view why) {
  Wide all = 0;
  for (const AnswerWork& one : workers) all += static_cast<Wide>(one.work);
  const MicroCredits due = all == 0 ? 0 : std::clamp<MicroCredits>(pay.due, 0, pay.held);
  Transaction transaction{
      .key = "answer-end:" + pay.answer.text(), .job = pay.answer, .entries = {{Account::escrow(pay.answer), -pay.held}}, .what = {}};
  MicroCredits paid = 0;
  for (const AnswerWork& one : workers) {
    const auto share = all == 0 ? 0 : static_cast<MicroCredits>(static_cast<Wide>(due) * static_cast<Wide>(one.work) / all);
    if (share == 0) continue;
    transaction.entries.push_back({Account::worker(one.worker), share});
    paid += share;
  }
  if (pay.held != paid) transaction.entries.push_back({Account::client(pay.client), pay.held - paid});
  transaction.what = paid == 0 ? std::format("returns {} credits: {}", credits(pay.held), why)
                               : std::format("pays {} credits for an answer of {} tokens, {}", credits(paid), pay.tokens, why);
  return transaction;
}

Transaction grant_with_key(std::string_view key, const PublicKey& client, MicroCredits amount) {
  return {.key = std::format("grant-key:{}", key),
          .job = {},
          .entries = {{Account::mint(), -amount}, {Account::client(client), amount}},
          .what = std::format("the operator gives {} credits with an API key", credits(amount))};
}

}  // namespace weft::ledger
