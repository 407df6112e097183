#include "decisions/inference/arithmetic.h"

namespace weft::inference {
namespace {

// True if weights have 8 bits or fewer: Q8_0 takes 34 bytes for 32 weights, while bf16 and f16 take
// 64.
bool has_narrow_weights(const store::Model& card) {
  const auto weights = std::uint64_t{card.vocabulary} * card.embedding;
  return weights > 0 && card.first_bytes > 0 && card.first_bytes / 34 <= weights / 32;
}

}  // namespace

std::string activations_of(const store::Model& card, std::string_view setting) {
  if (setting != "auto") return std::string(setting);
  return has_narrow_weights(card) ? "int8" : "f32";
}

}  // namespace weft::inference
