// Caches of keys or values for the tests of kernels.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/gguf/half.h"
#include "engine/kernels/kv_cache.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels::test {

// A cache of random numbers, which its format represents exactly, and these numbers as floats.
struct Cache {
  std::vector<std::uint8_t> bytes;
  std::vector<float> values;
};
inline Cache random_cache(const KvCacheSpec& spec, std::uint32_t seed) {
  Cache cache{std::vector<std::uint8_t>(spec.bytes()), random_floats(spec.elements(), seed)};
  if (spec.format == KvCacheFormat::f32) {
    std::memcpy(cache.bytes.data(), cache.values.data(), cache.bytes.size());
  } else if (spec.format == KvCacheFormat::f16) {
    for (std::size_t i = 0; i < cache.values.size(); ++i) {
      const std::uint16_t half = gguf::float_to_half(cache.values[i]);
      std::memcpy(cache.bytes.data() + 2 * i, &half, 2);
      cache.values[i] = gguf::half_to_float(half);
    }
  } else {
    for (std::size_t i = 0; i < cache.values.size(); ++i) {
      const float scale = 0.02f + 0.001f * static_cast<float>(i / 32 % 7);
      const auto quant =
          static_cast<std::int8_t>(std::clamp(cache.values[i] / scale, -127.0f, 127.0f));
      cache.bytes[i] = static_cast<std::uint8_t>(quant);
      std::memcpy(cache.bytes.data() + spec.elements() + i / 32 * 4, &scale, 4);
      cache.values[i] = scale * static_cast<float>(quant);
    }
  }
  return cache;
}

}  // namespace weft::kernels::test
