#include "engine/kernels/decode/int8_wgsl.h"

#include "engine/kernels/decode/int8_q4.wgsl.h"
#include "engine/kernels/decode/int8_q4k.wgsl.h"
#include "engine/kernels/decode/int8_q4m.wgsl.h"
#include "engine/kernels/decode/int8_q6k.wgsl.h"
#include "engine/kernels/decode/int8_q8.wgsl.h"
#include "engine/kernels/decode/int8_q8k.wgsl.h"
#include "engine/kernels/decode/int8_q8m.wgsl.h"

namespace weft::kernels {

std::string_view int8_wgsl(WeightFormat format) {
  switch (format) {
    case WeightFormat::q8:
      return wgsl::int8_q8_wgsl;
    case WeightFormat::q8m:
      return wgsl::int8_q8m_wgsl;
    case WeightFormat::q4:
      return wgsl::int8_q4_wgsl;
    case WeightFormat::q4m:
      return wgsl::int8_q4m_wgsl;
    case WeightFormat::q8k:
      return wgsl::int8_q8k_wgsl;
    case WeightFormat::q4k:
      return wgsl::int8_q4k_wgsl;
    case WeightFormat::q6k:
      return wgsl::int8_q6k_wgsl;
    case WeightFormat::f32:
    case WeightFormat::f16:
    case WeightFormat::bf16:
      break;
  }
  return {};
}

}  // namespace weft::kernels
