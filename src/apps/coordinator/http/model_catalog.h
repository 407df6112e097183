// The models that clients added, with their prices and owners. Decides which client may add,
// replace or remove a model. All keys of one owner have the same rights.
//
// Threading: terms() and count_of() from any thread, all other functions from the thread of
// inference, setters before that thread starts. Lifetime: the book outlives the catalog. Errors:
// permission_denied for another client's model, resource_exhausted if the owner has as many models
// as it may have, not_found for a model that does not exist. A change is durable when its function
// returns.
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

// The facts about a model that a request needs before the desk is asked.
struct ModelTerms {
  MicroCredits price = 0;  // Current price of 1,000 tokens.
  std::uint32_t context = 0;
  PublicKey owner = {};  // Key of the client that added the model.
};

// A page of the list of models: at most `limit` models after the model `after`. OpenAI's lists use
// the same parameters.
struct ModelPage {
  static constexpr std::size_t limit_max = 1024;  // The most models that can exist.
  std::string after;
  std::size_t limit = limit_max;
};

// The not_found error for a client that names an unknown model.
[[nodiscard]] Error no_model_error(std::string_view name);

class ModelCatalog {
 public:
  ModelCatalog(ModelRegistry registry, jobs::Book& book)
      : registry_(std::move(registry)), book_(book) {}

  // Sets the operator's key, which may add any number of models and remove every model.
  void set_operator(std::string key) { operator_ = std::move(key); }
  // Bounds the models of one owner; 0 removes the bound.
  void set_models_per_owner(std::size_t most) { per_owner_max_ = most; }
  [[nodiscard]] std::size_t models_per_owner() const { return per_owner_max_; }

  // Passes all models to the desk. Called once, before the thread starts.
  void load(inference::Desk& desk, Instant now);

  // The terms of a model; empty if the model does not exist.
  [[nodiscard]] std::optional<ModelTerms> terms(const std::string& model) const;
  // The number of models that devices of the client's owner have added.
  [[nodiscard]] std::size_t count_of(const PublicKey& client) const;

  // The card of a model, valid until the next change; null if the model does not exist.
  [[nodiscard]] const inference::ModelCard* find(std::string_view name) const {
    return registry_.find(name);
  }
  struct Page {
    std::vector<const inference::ModelCard*> cards;
    bool has_more = false;
  };
  // A page of models in the order in which they were added. Replacing a model does not move it.
  [[nodiscard]] Page page(const ModelPage& page) const;
  // The price that will replace the current one; empty if no change is pending.
  [[nodiscard]] std::optional<MicroCredits> price_next(const std::string& model, Instant now) const;

  // Adds or replaces the card's model for its owner.
  [[nodiscard]] Result<> add(const inference::ModelCard& card, inference::Desk& desk, Instant now);
  // Removes a model if `client` has the right to.
  [[nodiscard]] Result<> remove(const std::string& name, const std::string& client,
                                inference::Desk& desk, Instant now);
  // of() lists the models that any of `clients` added; remove_of() removes them and stops at the
  // first failure.
  [[nodiscard]] std::vector<inference::ModelCard> of(const std::vector<std::string>& clients) const;
  [[nodiscard]] Result<> remove_of(const std::vector<std::string>& clients, inference::Desk& desk,
                                   Instant now);

 private:
  void set_terms(const inference::ModelCard& card, const inference::Desk& desk, Instant now);
  // True if both keys belong to one owner and `client` may act for it.
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
