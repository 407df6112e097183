// What the coordinator's verifier computes with in tests: the counting job of test_work.h.
#pragma once

#include <memory>
#include <utility>

#include "apps/coordinator/ingest/verifier.h"
#include "common/base/bytes.h"

namespace weft::coordinator {

class CountRunner final : public PartRunner {
 public:
  explicit CountRunner(const bool& fails) : fails_(fails) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, manifest::Range range,
                  Duration) override {
    if (fails_) return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    ByteVector bytes;
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) append_le(bytes, i);
    return Ran{.outputs = {std::move(bytes)}, .seconds = 0.0001};
  }
  void rest() override {}

 private:
  const bool& fails_;
};

}  // namespace weft::coordinator
