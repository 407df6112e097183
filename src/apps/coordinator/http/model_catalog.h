// The models that clients added, with what each costs and whose it is: who may add, replace and
// remove one. Keys of one owner act for each other.
//
// Threading: terms() and count_of() from any thread, all else from the thread of inference, setters
// before it starts. Lifetime: the book outlives it. Errors: permission_denied for another client's
// model, resource_exhausted at the owner's bound, not_found for a model that is not there; a
// change is durable when its function returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/http/model_registry.h"
#include "common/base/guarded.h"
#include "decisions/billing/model_prices.h"
#include "decisions/inference/desk.h"
#include "decisions/jobs/book.h"

namespace weft::coordinator {

// What a request needs to know of a model before it is asked.
struct ModelTerms {
  MicroCredits price = 0;  // For 1,000 tokens, now.
  std::uint32_t context = 0;
  PublicKey owner = {};  // The client that added it.
};

// A page of the list of models: at most `limit` after the one of that name, as OpenAI's lists have
// it.
struct ModelPage {
  static constexpr std::size_t limit_max = 1024;  // As many as there can be.
  std::string after;
  std::size_t limit = limit_max;
};

// not_found, as clients are told it.
[[nodiscard]] Error no_model_error(std::string_view name);

class ModelCatalog {
 public:
  ModelCatalog(ModelRegistry registry, jobs::Book& book)
      : registry_(std::move(registry)), book_(book) {}

  // The key that may remove every model, and add any number.
  void set_operator(std::string key) { operator_ = std::move(key); }
  // The bound on models of one owner; 0: none.
  void set_models_per_owner(std::size_t most) { per_owner_max_ = most; }
  [[nodiscard]] std::size_t models_per_owner() const { return per_owner_max_; }

  // Hands all models to the desk, once, before the thread starts.
  void load(inference::Desk& desk, Instant now);

  // Nothing if there is no such model.
  [[nodiscard]] std::optional<ModelTerms> terms(const std::string& model) const;
  // How many devices of the client's owner have added.
  [[nodiscard]] std::size_t count_of(const PublicKey& client) const;

  // Null if there is no such model; valid until the next change.
  [[nodiscard]] const inference::ModelCard* find(std::string_view name) const {
    return registry_.find(name);
  }
  struct Page {
    std::vector<const inference::ModelCard*> cards;
    bool has_more = false;
  };
  // In the order in which they were added, which no change of another one moves.
  [[nodiscard]] Page page(const ModelPage& page) const;
  // What the price will be, if another one holds now.
  [[nodiscard]] std::optional<MicroCredits> price_next(const std::string& model, Instant now) const;

  // Adds the card's model for its owner, or replaces it.
  [[nodiscard]] Result<> add(const inference::ModelCard& card, inference::Desk& desk, Instant now);
  // Removes the model if `client` may.
  [[nodiscard]] Result<> remove(const std::string& name, const std::string& client,
                                inference::Desk& desk, Instant now);
  // The models that one of these clients added; and removes them, up to the first failure.
  [[nodiscard]] std::vector<inference::ModelCard> of(const std::vector<std::string>& clients) const;
  [[nodiscard]] Result<> remove_of(const std::vector<std::string>& clients, inference::Desk& desk,
                                   Instant now);

 private:
  void set_terms(const inference::ModelCard& card, const inference::Desk& desk, Instant now);
  // Whether both keys are of one owner, and `client` may act for it.
  [[nodiscard]] bool acts_for(const std::string& client, const std::string& owner) const;
  [[nodiscard]] Result<> take_out(const std::string& name, inference::Desk& desk, Instant now);

  ModelRegistry registry_;
  jobs::Book& book_;
  std::string operator_;
  std::size_t per_owner_max_ = 16;
  Guarded<std::map<std::string, ModelTerms>> terms_;
  Guarded<billing::ModelPrices> prices_;
};

}  // namespace weft::coordinator
