#include "apps/coordinator/http/model_catalog.h"

#include <algorithm>
#include <iterator>

#include "common/base/format.h"
#include "decisions/inference/onnx_interface.h"

namespace weft::coordinator {

namespace {

std::unexpected<Error> not_yours(std::string_view name) {
  return fail(ErrorCode::permission_denied, "The model {} belongs to another client.", name);
}

}  // namespace

Error no_model_error(std::string_view name) {
  return {ErrorCode::not_found, weft::format("The model '{}' does not exist here.", name)};
}

void ModelCatalog::load(inference::Desk& desk, Instant now) {
  for (const inference::ModelCard& card : registry_.cards()) {
    set_terms(card, desk, now);
    if (!inference::is_onnx(card)) desk.put_model(card, now);
  }
}

void ModelCatalog::set_terms(const inference::ModelCard& card, const inference::Desk& desk,
                             Instant now) {
  prices_.with([&](auto& prices) { prices.set(card.name, card.price, now); });
  terms_.with([&](auto& terms) {
    terms[card.name] = {.context = desk.context_of(card),
                        .owner = PublicKey::parse(card.owner).value_or(PublicKey())};
  });
}

std::optional<ModelTerms> ModelCatalog::terms(const std::string& model) const {
  auto terms = terms_.with([&](const auto& all) {
    const auto found = all.find(model);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  });
  if (terms)
    terms->price =
        prices_.with([&](const auto& prices) { return prices.price(model, weft::now()); });
  return terms;
}

std::size_t ModelCatalog::count_of(const PublicKey& client) const {
  const OwnerId owner = book_.owner_of(client);
  return static_cast<std::size_t>(terms_.with([&](const auto& all) {
    return std::ranges::count_if(
        all, [&](const auto& one) { return book_.owner_of(one.second.owner) == owner; });
  }));
}

ModelCatalog::Page ModelCatalog::page(const ModelPage& page) const {
  const std::vector<inference::ModelCard>& cards = registry_.cards();
  const auto after = std::ranges::find(cards, page.after, &inference::ModelCard::name);
  const auto first = page.after.empty() || after == cards.end() ? cards.begin() : after + 1;
  const auto left = static_cast<std::size_t>(cards.end() - first);
  const auto end = first + static_cast<std::ptrdiff_t>(std::min(left, page.limit));
  Page out{.cards = {}, .has_more = left > page.limit};
  std::ranges::transform(first, end, std::back_inserter(out.cards),
                         [](const auto& card) { return &card; });
  return out;
}

std::optional<MicroCredits> ModelCatalog::price_next(const std::string& model, Instant now) const {
  return prices_.with([&](const auto& prices) { return prices.next(model, now); });
}

bool ModelCatalog::acts_for(const std::string& client, const std::string& owner) const {
  const auto asks = PublicKey::parse(client), has = PublicKey::parse(owner);
  return asks && has ? book_.sees(*asks, *has) : client == owner;
}

Result<> ModelCatalog::add(const inference::ModelCard& card, inference::Desk& desk, Instant now) {
  const inference::ModelCard* const old = registry_.find(card.name);
  if (old != nullptr && !acts_for(card.owner, old->owner)) return not_yours(card.name);
  const auto own = std::ranges::count_if(
      registry_.cards(), [&](const auto& other) { return acts_for(card.owner, other.owner); });
  if (old == nullptr && per_owner_max_ > 0 && static_cast<std::size_t>(own) >= per_owner_max_ &&
      card.owner != operator_)
    return fail(
        ErrorCode::resource_exhausted,
        "The client has {} models already and may add no more; remove one (`weft model remove`).",
        own);
  WEFT_OK(registry_.put(card));
  set_terms(card, desk, now);
  if (inference::is_onnx(card)) {
    desk.remove_model(card.name, now);  // Workers may still serve an earlier model of this name.
  } else {
    desk.put_model(card, now);
  }
  return {};
}

Result<> ModelCatalog::remove(const std::string& name, const std::string& client,
                              inference::Desk& desk, Instant now) {
  const inference::ModelCard* const card = registry_.find(name);
  if (card != nullptr && !acts_for(client, card->owner) && client != operator_)
    return not_yours(name);
  return take_out(name, desk, now);
}

Result<> ModelCatalog::take_out(const std::string& name, inference::Desk& desk, Instant now) {
  WEFT_OK(registry_.remove(name));
  terms_.with([&](auto& terms) { terms.erase(name); });
  prices_.with([&](auto& prices) { prices.remove(name, now); });
  desk.remove_model(name, now);
  return {};
}

std::vector<inference::ModelCard> ModelCatalog::of(const std::vector<std::string>& clients) const {
  std::vector<inference::ModelCard> out;
  std::ranges::copy_if(
      registry_.cards(), std::back_inserter(out),
      [&](const inference::ModelCard& card) { return std::ranges::contains(clients, card.owner); });
  return out;
}

Result<> ModelCatalog::remove_of(const std::vector<std::string>& clients, inference::Desk& desk,
                                 Instant now) {
  for (const inference::ModelCard& card : of(clients)) WEFT_OK(take_out(card.name, desk, now));
  return {};
}

}  // namespace weft::coordinator
