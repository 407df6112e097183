// Models by the clients that added them: what an owner is shown of them, and deletes.
#include <algorithm>

#include "apps/coordinator/http/model_service.h"

namespace weft::coordinator {

namespace {

std::unexpected<Error> too_busy() {
  return fail(ErrorCode::unavailable, "Too much is waiting to be decided; try again in a moment.");
}

}  // namespace

bool ModelService::acts_for(const std::string& client, const std::string& owner) const {
  const auto asks = PublicKey::parse(client), has = PublicKey::parse(owner);
  return asks && has ? book_.sees(*asks, *has) : client == owner;
}

std::size_t ModelService::count_of(const PublicKey& client) const {
  const OwnerId owner = book_.owner_of(client);
  return static_cast<std::size_t>(terms_.with([&](const auto& all) {
    return std::ranges::count_if(
        all, [&](const auto& one) { return book_.owner_of(one.second.owner) == owner; });
  }));
}

Result<> ModelService::take_out(const std::string& name, inference::Desk& desk, Instant time) {
  WEFT_OK(registry_.remove(name));
  terms_.with([&](auto& terms) { terms.erase(name); });
  prices_.with([&](auto& prices) { prices.remove(name, time); });
  desk.remove_model(name, time);
  return {};
}

void ModelService::models_of(std::vector<std::string> owners, const Cards& done) {
  const bool queued = post([this, owners = std::move(owners), done](inference::Desk&, Instant) {
    std::vector<inference::ModelCard> cards;
    for (const inference::ModelCard& card : registry_.cards())
      if (std::ranges::contains(owners, card.owner)) cards.push_back(card);
    done(std::move(cards));
  });
  if (!queued) done(too_busy());
}

void ModelService::remove_of(std::vector<std::string> owners,
                             const std::function<void(Result<>)>& done) {
  const bool queued =
      post([this, owners = std::move(owners), done](inference::Desk& desk, Instant time) {
        std::vector<std::string> names;
        for (const inference::ModelCard& card : registry_.cards())
          if (std::ranges::contains(owners, card.owner)) names.push_back(card.name);
        for (const std::string& name : names) {
          if (const auto removed = take_out(name, desk, time); !removed) return done(removed);
        }
        done({});
      });
  if (!queued) done(too_busy());
}

}  // namespace weft::coordinator
