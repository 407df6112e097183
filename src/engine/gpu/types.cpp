#include "engine/gpu/types.h"

#include <algorithm>

namespace weft::gpu {

std::string_view to_string(AdapterKind kind) {
  switch (kind) {
    case AdapterKind::discrete:
      return "discrete";
    case AdapterKind::integrated:
      return "integrated";
    case AdapterKind::cpu:
      return "cpu";
    case AdapterKind::unknown:
      break;
  }
  return "unknown";
}

bool AdapterInfo::has(std::string_view feature) const {
  return std::ranges::find(features, feature) != features.end() ||
         std::ranges::find(wgsl_features, feature) != wgsl_features.end();
}

}  // namespace weft::gpu
