#include "bindings/llm_web/requests.h"

#include <optional>
#include <string>

#include "common/json/json.h"

namespace weft::llm_web {
namespace {

constexpr std::size_t text_bytes_max = std::size_t{64} << 20;
constexpr std::size_t tokens_max = std::size_t{1} << 22;
constexpr std::size_t stops_max = 64;

// Reads members of a JSON object into variables. A variable keeps its value if the member is
// missing.
class Fields {
 public:
  explicit Fields(const json::Object& object) : object_(object) {}

  [[nodiscard]] Result<> number(std::string_view key, float& out) const {
    if (const auto value = object_.find(key)) {
      WEFT_ASSIGN(const double read, value->number());
      out = static_cast<float>(read);
    }
    return {};
  }
  [[nodiscard]] Result<> count(std::string_view key, std::uint32_t& out) const {
    if (const auto value = object_.find(key)) {
      WEFT_ASSIGN(out, value->integer_as<std::uint32_t>());
    }
    return {};
  }

 private:
  const json::Object& object_;
};

Result<std::string> text_or(const json::Object& object, std::string_view key,
                            std::string_view otherwise) {
  const auto value = object.find(key);
  if (!value) return std::string(otherwise);
  return value->string();
}

}  // namespace

Result<LoadRequest> parse_load(std::string_view text) {
  LoadRequest out;
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object object,
              root.object({"device", "kv", "activations", "context", "sequences"}));
  WEFT_ASSIGN(const std::string device, text_or(object, "device", "auto"));
  if (device == "gpu") {
    out.device = DeviceChoice::gpu;
  } else if (device == "cpu") {
    out.device = DeviceChoice::cpu;
  } else if (device != "auto") {
    return fail(ErrorCode::invalid_argument, "The device '{}' is not one of auto, gpu and cpu.",
                device);
  }
  WEFT_ASSIGN(const std::string kv, text_or(object, "kv", "f16"));
  WEFT_ASSIGN(out.engine.kv, llm::kv_format_from(kv));
  WEFT_ASSIGN(const std::string activations, text_or(object, "activations", "f32"));
  WEFT_ASSIGN(out.engine.activations, llm::activations_from(activations));
  const Fields fields(object);
  WEFT_OK(fields.count("context", out.engine.context));
  WEFT_OK(fields.count("sequences", out.engine.sequences));
  return out;
}

Result<llm::Request> parse_generate(std::string_view text) {
  llm::Request out;
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object object,
              root.object({"maxTokens", "temperature", "topK", "topP", "minP", "repetitionPenalty",
                           "presencePenalty", "frequencyPenalty", "penaltyWindow", "seed", "stop",
                           "logprobs"}));
  const Fields fields(object);
  WEFT_OK(fields.count("maxTokens", out.tokens_max));
  WEFT_OK(fields.number("temperature", out.sampling.temperature));
  WEFT_OK(fields.count("topK", out.sampling.top_k));
  WEFT_OK(fields.number("topP", out.sampling.top_p));
  WEFT_OK(fields.number("minP", out.sampling.min_p));
  WEFT_OK(fields.number("repetitionPenalty", out.sampling.repetition_penalty));
  WEFT_OK(fields.number("presencePenalty", out.sampling.presence_penalty));
  WEFT_OK(fields.number("frequencyPenalty", out.sampling.frequency_penalty));
  WEFT_OK(fields.count("penaltyWindow", out.sampling.penalty_window));
  if (const auto seed = object.find("seed")) {
    // The largest number that JavaScript holds exactly.
    constexpr std::uint64_t exact_max = std::uint64_t{1} << 53;
    WEFT_ASSIGN(out.sampling.seed, seed->unsigned_integer(exact_max));
  }
  if (const auto stop = object.find("stop")) {
    WEFT_ASSIGN(const auto stops, stop->array({.count_max = stops_max}));
    for (const json::Value& value : stops) {
      WEFT_ASSIGN(out.stop.emplace_back(), value.string());
    }
  }
  WEFT_OK(fields.count("logprobs", out.top));
  return out;
}

Result<std::vector<llm::Token>> parse_tokens(std::string_view text) {
  std::vector<llm::Token> tokens;
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = text_bytes_max}));
  const auto read = [&](const json::Value& value) -> Result<> {
    WEFT_ASSIGN(tokens.emplace_back(), value.integer_as<llm::Token>());
    return {};
  };
  WEFT_OK(root.for_each({.count_max = tokens_max}, read));
  return tokens;
}

}  // namespace weft::llm_web
