#include "engine/llm/types.h"

namespace weft::llm {

std::string_view to_string(KvFormat format) {
  switch (format) {
    case KvFormat::f32:
      return "f32";
    case KvFormat::f16:
      return "f16";
    case KvFormat::q8_0:
      break;
  }
  return "q8_0";
}

std::string_view to_string(Activations activations) {
  switch (activations) {
    case Activations::f32:
      return "f32";
    case Activations::int8:
      return "int8";
    case Activations::f16:
      break;
  }
  return "f16";
}

Result<KvFormat> kv_format_from(std::string_view name) {
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0}) {
    if (name == to_string(format)) return format;
  }
  return fail(ErrorCode::invalid_argument,
              "The KV cache format '{}' is not one of f32, f16 and q8_0.", name);
}

Result<Activations> activations_from(std::string_view name) {
  for (const Activations activations : {Activations::f32, Activations::int8, Activations::f16}) {
    if (name == to_string(activations)) return activations;
  }
  return fail(ErrorCode::invalid_argument,
              "Activations cannot be of type {}: the choices are f32, int8 and f16.", name);
}

Result<> check_sampling(const Sampling& sampling) {
  const auto in = [](float value, float low, float high) {
    return value >= low && value <= high;
  };  // The comparison is false for NaN.
  if (!in(sampling.temperature, 0, 100))
    return fail(ErrorCode::invalid_argument, "The temperature is {}; it lies between 0 and 100.",
                sampling.temperature);
  if (!in(sampling.top_p, 0, 1))
    return fail(ErrorCode::invalid_argument, "top-p is {}; it lies between 0 and 1.",
                sampling.top_p);
  if (!in(sampling.min_p, 0, 1))
    return fail(ErrorCode::invalid_argument, "min-p is {}; it lies between 0 and 1.",
                sampling.min_p);
  if (!in(sampling.repetition_penalty, 0.01f, 100))
    return fail(ErrorCode::invalid_argument,
                "The repetition penalty is {}; it lies between 0.01 and 100.",
                sampling.repetition_penalty);
  if (!in(sampling.presence_penalty, -100, 100))
    return fail(ErrorCode::invalid_argument,
                "The presence penalty is {}; it lies between -100 and 100.",
                sampling.presence_penalty);
  if (!in(sampling.frequency_penalty, -100, 100))
    return fail(ErrorCode::invalid_argument,
                "The frequency penalty is {}; it lies between -100 and 100.",
                sampling.frequency_penalty);
  if (sampling.penalty_window > 4096)
    return fail(ErrorCode::invalid_argument,
                "The penalty window is {} tokens; at most 4096 are possible.",
                sampling.penalty_window);
  return {};
}

}  // namespace weft::llm
