#include "decisions/inference/model_card.h"

#include <glaze/glaze.hpp>

#include "common/json/json.h"
#include "common/protocol/serving.h"
#include "decisions/inference/modality.h"
#include "decisions/inference/onnx_interface.h"

template <>
struct glz::meta<weft::store::WeightWidth> {
  using enum weft::store::WeightWidth;
  static constexpr auto value = glz::enumerate(unknown, narrow, wide);
};

namespace weft::inference {
namespace {

struct Writing : glz::opts {
  bool escape_control_characters = true;
};

Result<std::string> text_of(const json::Object& object, std::string_view key,
                            std::size_t bytes_max) {
  WEFT_ASSIGN(const json::Value value, object.get(key));
  return value.string({.bytes_max = bytes_max});
}

Result<std::string> hash_of(const json::Object& object, std::string_view key) {
  WEFT_ASSIGN(const json::Value value, object.get(key));
  WEFT_ASSIGN(std::string text, value.string({.bytes_max = 64}));
  if (auto hash = Hash::parse(text); !hash || hash->text() != text)
    return value.error("is not a SHA-256 in lower-case hex");
  return text;
}

template <class Integer>
Result<Integer> number_of(const json::Object& object, std::string_view key, std::uint64_t min,
                          std::uint64_t max) {
  WEFT_ASSIGN(const json::Value value, object.get(key));
  WEFT_ASSIGN(const std::uint64_t number, value.unsigned_integer(max));
  if (number < min) return value.error("must be at least {}", min);
  return static_cast<Integer>(number);
}

}  // namespace

std::string to_json(const ModelCard& card) { return glz::write<Writing{}>(card).value_or("{}"); }

Result<ModelCard> read_model_card(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = std::size_t{64} << 10}));
  WEFT_ASSIGN(
      const json::Object object,
      root.object({"name",        "file",         "chunks",      "bytes",      "header_bytes",
                   "chunk_bytes", "architecture", "layers",      "embedding",  "vocabulary",
                   "context",     "layer_bytes",  "first_bytes", "last_bytes", "cache_bytes",
                   "shards_min",  "price",        "wire",        "created",    "owner",
                   "weights"}));
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 40;
  ModelCard card;
  WEFT_ASSIGN(card.name, text_of(object, "name", 128));
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == ':';
  };
  if (card.name.empty() || !std::ranges::all_of(card.name, is_good))
    return object.value().error(
        "\"{}\" is not a name of a model: letters, digits, '.', '_', '-' and ':'", card.name);
  WEFT_ASSIGN(card.file, hash_of(object, "file"));
  WEFT_ASSIGN(card.chunks, hash_of(object, "chunks"));
  WEFT_ASSIGN(card.bytes, number_of<std::uint64_t>(object, "bytes", 1, bytes_max));
  WEFT_ASSIGN(card.header_bytes, number_of<std::uint64_t>(
                                     object, "header_bytes", 1,
                                     std::min<std::uint64_t>(card.bytes, std::uint64_t{1} << 28)));
  WEFT_ASSIGN(card.chunk_bytes, number_of<std::uint32_t>(object, "chunk_bytes", 1 << 16, 1 << 24));
  WEFT_ASSIGN(card.architecture, text_of(object, "architecture", 64));
  WEFT_ASSIGN(card.layers, number_of<std::uint32_t>(object, "layers", 1, 1024));
  WEFT_ASSIGN(card.embedding, number_of<std::uint32_t>(object, "embedding", 1, 1 << 20));
  WEFT_ASSIGN(card.vocabulary, number_of<std::uint32_t>(object, "vocabulary", 1, 1 << 24));
  WEFT_ASSIGN(card.context, number_of<std::uint32_t>(object, "context", 1, 1 << 20));
  WEFT_ASSIGN(card.layer_bytes, number_of<std::uint64_t>(object, "layer_bytes", 1, bytes_max));
  WEFT_ASSIGN(card.first_bytes, number_of<std::uint64_t>(object, "first_bytes", 0, bytes_max));
  WEFT_ASSIGN(card.last_bytes, number_of<std::uint64_t>(object, "last_bytes", 0, bytes_max));
  WEFT_ASSIGN(card.cache_bytes, number_of<std::uint64_t>(object, "cache_bytes", 0, 1 << 24));
  WEFT_ASSIGN(card.shards_min,
              number_of<std::uint32_t>(object, "shards_min", 1, std::min(card.layers, 64u)));
  if (makes_vectors(card)) {
    if (card.shards_min > 1)
      return object.value().error(
          "shards_min is {}; a model that makes vectors is served whole, by 1 worker",
          card.shards_min);
    if (card.embedding > protocol::serving::vector_numbers_max)
      return object.value().error("embedding is {}; a vector has at most {} numbers",
                                  card.embedding, protocol::serving::vector_numbers_max);
  }
  if (object.has("price")) {
    constexpr std::uint64_t price_max = 1'000'000'000'000;  // A million credits in micro-credits.
    WEFT_ASSIGN(card.price, number_of<MicroCredits>(object, "price", 0, price_max));
    if (is_onnx(card) && card.price > 0)
      return object.value().error(
          "price is {}; a request to an ONNX model is a job, which costs what its work costs: "
          "leave "
          "it out",
          card.price);
  }
  if (object.has("wire")) {
    WEFT_ASSIGN(card.wire, text_of(object, "wire", 8));
    if (!card.wire.empty() && card.wire != "f32" && card.wire != "f16" && card.wire != "i8")
      return object.value().error("\"{}\" is not a wire: f32, f16 or i8", card.wire);
  }
  if (object.has("weights")) {
    WEFT_ASSIGN(const std::string weights, text_of(object, "weights", 16));
    if (weights != "wide" && weights != "narrow" && weights != "unknown")
      return object.value().error("\"{}\" is not a width of weights: wide, narrow or unknown",
                                  weights);
    card.weights = weights == "wide"     ? store::WeightWidth::wide
                   : weights == "narrow" ? store::WeightWidth::narrow
                                         : store::WeightWidth::unknown;
  }
  if (const auto created = object.find("created")) {
    WEFT_ASSIGN(card.created, created->integer());
  }
  if (object.has("owner")) {
    WEFT_ASSIGN(card.owner, text_of(object, "owner", 64));
  }
  return card;
}

}  // namespace weft::inference
