#include "decisions/billing/model_prices.h"

namespace weft::billing {

void ModelPrices::forget_removed(Instant now) {
  std::erase_if(prices_, [&](const auto& each) {
    return each.second.removed && now - *each.second.removed >= hold_;
  });
}

void ModelPrices::set(const std::string& model, MicroCredits price, Instant now) {
  forget_removed(now);
  const auto [found, is_new] = prices_.try_emplace(model);
  Price& entry = found->second;
  const MicroCredits holds = is_new ? price : entry.at(now);
  // The price is announced already.
  const bool same = !is_new && price == entry.follows && price > holds;
  entry.removed.reset();
  if (same) return;
  entry.holds = holds;
  entry.follows = price;
  entry.from = price > holds ? now + hold_ : now;
}

void ModelPrices::remove(const std::string& model, Instant now) {
  forget_removed(now);
  if (const auto found = prices_.find(model); found != prices_.end()) found->second.removed = now;
}

MicroCredits ModelPrices::price(const std::string& model, Instant now) const {
  const auto found = prices_.find(model);
  return found == prices_.end() ? 0 : found->second.at(now);
}

std::optional<MicroCredits> ModelPrices::next(const std::string& model, Instant now) const {
  const auto found = prices_.find(model);
  if (found == prices_.end() || now >= found->second.from) return std::nullopt;
  return found->second.follows;
}

}  // namespace weft::billing
