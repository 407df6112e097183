#include "apps/coordinator/ingest/output_types.h"

namespace weft::coordinator {
namespace {

proof::NumberType number_type(manifest::ElementType type) {
  switch (type) {
    case manifest::ElementType::i32:
      return proof::NumberType::i32;
    case manifest::ElementType::f32:
      return proof::NumberType::f32;
    case manifest::ElementType::f16:
      return proof::NumberType::f16;
    default:
      return proof::NumberType::u32;
  }
}

}  // namespace

std::vector<proof::NumberType> output_types(const manifest::Manifest& manifest) {
  if (manifest.kind == manifest::Kind::kernel) return {proof::NumberType::i32};
  std::vector<proof::NumberType> types;
  for (const auto& binding : manifest.bindings) {
    if (binding.is_output()) types.push_back(number_type(binding.type));
  }
  return types;
}

}  // namespace weft::coordinator
