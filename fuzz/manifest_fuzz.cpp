// Fuzzes manifests: a text is refused or read as a manifest. A manifest that was read has one
// written form, which reads as an equal manifest, and its parts cover the whole job.
#include "common/base/check.h"
#include "common/manifest/manifest.h"
#include "common/manifest/split.h"

namespace {

using namespace weft;
using namespace weft::manifest;

void cuts_cover(const Manifest& manifest) {
  const Range first = task_range(manifest, 0);
  const Range last = task_range(manifest, manifest.split.tasks - 1);
  check(first.first == 0 && first.count > 0 && last.count > 0, "every task has workgroups");
  check(std::uint64_t{last.first} + last.count == axis_length(manifest),
        "the last task ends where the axis does");
  const std::vector<std::uint64_t> sizes = manifest.output_bytes();
  for (std::size_t output = 0; output < sizes.size(); ++output) {
    const Extent extent = output_extent(manifest, output, last);
    check(extent.offset + extent.size == sizes[output], "the last task ends where the output does");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto manifest = parse(as_text(ByteSpan(data, size)), {.text_bytes_max = 1 << 20});
  if (!manifest) {
    check(manifest.error().code == ErrorCode::invalid_argument && !manifest.error().message.empty(),
          "a refusal says why");
    return 0;
  }
  const std::string text = to_json(*manifest);
  const auto again = parse(text);
  check(again.has_value(), "what was read is written readably");
  check(*again == *manifest, "what is written reads the same");
  check(to_json(*again) == text, "a manifest has one written form");
  cuts_cover(*manifest);
  return 0;
}
