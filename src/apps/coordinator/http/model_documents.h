// Writes the HTTP interface's documents about models and the workers that serve them.
//
// Pure. Threading: any; arguments are read only during the call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/coordinator/http/paged_list.h"
#include "common/base/ids.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/model_card.h"

namespace weft::coordinator {

// The current state of a model, which its card does not contain.
struct ModelFacts {
  inference::ServedModel served{};
  std::uint32_t context_served = 0;          // Context with which the model is served, in tokens.
  MicroCredits price = 0;                    // Price of 1,000 tokens.
  std::optional<MicroCredits> price_next{};  // The next price, if a change is pending.
  std::string activations;       // Number format of activations (inference/arithmetic.h).
  double audited_share_min = 0;  // Lowest audited share of an established wallet's answers.
};

// A model as an object of /v1/models.
[[nodiscard]] std::string model_json(const inference::ModelCard& card, const ModelFacts& facts);

// The workers, chains and models that are being served at one moment.
struct ServingView {
  std::vector<inference::ServedWorker> workers{};
  std::vector<inference::ServedChain> chains{};
  std::vector<inference::ServedModel> models{};
  inference::ServingCounters counters{};
};
// The list of /v1/serving: models, at most 1,000 chains, and counters, followed by the workers as
// rows.
[[nodiscard]] std::shared_ptr<const PagedList> serving_list(const ServingView& view);

// Returns the counters of serving in Prometheus format.
[[nodiscard]] std::string inference_metrics(const inference::ServingCounters& counters);

}  // namespace weft::coordinator
