#include "engine/kernels/kv_cache.h"

#include "common/base/check.h"
#include "engine/kernels/kv_f16.wgsl.h"
#include "engine/kernels/kv_f16_store.wgsl.h"
#include "engine/kernels/kv_f32.wgsl.h"
#include "engine/kernels/kv_f32_store.wgsl.h"
#include "engine/kernels/kv_q8_0.wgsl.h"
#include "engine/kernels/kv_q8_0_store.wgsl.h"

namespace weft::kernels {

std::uint64_t KvCacheSpec::bytes() const {
  switch (format) {
    case KvCacheFormat::f32:
      return elements() * 4;
    case KvCacheFormat::f16:
      return elements() * 2;
    case KvCacheFormat::q8_0:
      return elements() + elements() / 32 * 4;
  }
  return 0;
}

void KvCacheSpec::describe(ShaderText& text, bool writable) const {
  check(head_dim % (format == KvCacheFormat::q8_0 ? 32 : 4) == 0,
        "heads are stored in whole blocks");
  text.constant("KV_HEADS", kv_heads).constant("CONTEXT", context).constant("DIM", head_dim);
  if (page == 0) {
    text.part(
        "fn kv_row(slot: u32, kv_head: u32, position: u32) -> u32 {\n"
        "  return ((slot * KV_HEADS + kv_head) * CONTEXT + position) * (DIM / 4u);\n"
        "}\n");
  } else {
    // The page is selected by bits, because SwiftShader crashes if a variable indexes a vector that
    // is read from a buffer.
    text.constant("PAGE", page)
        .constant("TABLE_FIRST", table_first)
        .constant("TABLE_PAGES", table_pages())
        .part(
            "fn kv_row(slot: u32, kv_head: u32, position: u32) -> u32 {\n"
            "  let at = slot * TABLE_PAGES + position / PAGE;\n"
            "  let four = places[TABLE_FIRST + at / 4u];\n"
            "  let two = select(four.xy, four.zw, (at & 2u) != 0u);\n"
            "  let page = select(two.x, two.y, (at & 1u) != 0u);\n"
            "  return ((page * KV_HEADS + kv_head) * PAGE + position % PAGE) * (DIM / 4u);\n"
            "}\n");
  }
  if (format == KvCacheFormat::q8_0)
    text.constant("KV_SCALES", static_cast<std::uint32_t>(elements() / 4));
  switch (format) {
    case KvCacheFormat::f32:
      text.part(wgsl::kv_f32_wgsl).part(writable ? wgsl::kv_f32_store_wgsl : "");
      break;
    case KvCacheFormat::f16:
      text.part(wgsl::kv_f16_wgsl).part(writable ? wgsl::kv_f16_store_wgsl : "");
      break;
    case KvCacheFormat::q8_0:
      text.part(wgsl::kv_q8_0_wgsl).part(writable ? wgsl::kv_q8_0_store_wgsl : "");
      break;
  }
}

}  // namespace weft::kernels
