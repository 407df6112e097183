// What the HTTP interface says of models and of the workers that serve them, as text.
//
// Pure. Threading: any; what is passed in is read only during the call.
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

// What is true of a model at the moment, beside its card.
struct ModelFacts {
  inference::ServedModel served{};
  std::uint32_t context_served = 0;          // Tokens.
  MicroCredits price = 0;                    // For 1,000 tokens;
  std::optional<MicroCredits> price_next{};  // the one that follows, if another one holds now.
  std::string activations;                   // As workers compute (inference/arithmetic.h).
  double audited_share_min = 0;              // Share of an established wallet's answers.
};

// The object of /v1/models.
[[nodiscard]] std::string model_json(const inference::ModelCard& card, const ModelFacts& facts);

// What serves models at a moment.
struct ServingView {
  std::vector<inference::ServedWorker> workers{};
  std::vector<inference::ServedChain> chains{};
  std::vector<inference::ServedModel> models{};
  inference::ServingCounters counters{};
};
// /v1/serving: the workers as rows, and before them models, chains and counters. Of the chains, the
// first 1,000.
[[nodiscard]] std::shared_ptr<const PagedList> serving_list(const ServingView& view);

// The counters as Prometheus reads them.
[[nodiscard]] std::string inference_metrics(const inference::ServingCounters& counters);

}  // namespace weft::coordinator
