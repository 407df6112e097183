// What the coordinator's verifier computes with in tests: the counting job of test_work.h.
#pragma once

#include <memory>
#include <utility>

#include "apps/coordinator/ingest/verifier.h"
#include "common/base/bytes.h"

namespace weft::coordinator {

class CountRunner final : public PartRunner {
 public:
  // How what it computes depends on more than the part that is asked for.
  enum class Unsteady : std::uint8_t { no, by_range, by_run };

  explicit CountRunner(const bool& fails, const Unsteady& unsteady)
      : fails_(fails), unsteady_(unsteady) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, manifest::Range range,
                  Duration) override {
    if (fails_) return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    ByteVector bytes;
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i)
      append_le(bytes, i ^ whim(range));
    ++runs_;
    return Ran{.outputs = {std::move(bytes)}, .seconds = 0.0001};
  }
  void rest() override {}

 private:
  [[nodiscard]] std::uint32_t whim(manifest::Range range) const {
    if (unsteady_ == Unsteady::by_range) return range.count << 16;
    return unsteady_ == Unsteady::by_run ? (runs_ + 1) << 16 : 0;
  }

  const bool& fails_;
  const Unsteady& unsteady_;
  std::uint32_t runs_ = 0;
};

}  // namespace weft::coordinator
