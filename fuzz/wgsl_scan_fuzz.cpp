// Fuzzes the scan of a stranger's shader: it ends on any text, and gives only sizes that WebGPU
// allows.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "engine/exec/wgsl_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  const exec::WgslScan scan(as_text(ByteSpan(data, size)));
  const auto told = scan.workgroup_size("main", {{"h", 4}});
  if (told) {
    for (const std::uint32_t length : *told)
      check(length >= 1 && length <= 65535, "a size is within range");
  }
  return 0;
}
