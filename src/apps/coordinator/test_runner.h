// The part runner of the verifier in tests. It computes the counting job of test_work.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "apps/coordinator/ingest/part_runner.h"
#include "common/base/bytes.h"

namespace weft::coordinator {

class CountRunner final : public PartRunner {
 public:
  // Makes results depend on more than the requested range: on how it is cut, or on the run.
  enum class Unsteady : std::uint8_t { no, by_range, by_run };

  // The result of a second device of this machine: equal or different. `none` means that the
  // machine has only one device.
  enum class Second : std::uint8_t { same, other, none };
  // The value that a runner of the other device XORs into each element.
  static constexpr std::uint8_t other_device = 0x40;
  // Replaces counting with other work: computes the bytes of the only output of a range.
  using Compute = std::function<ByteVector(manifest::Range)>;

  explicit CountRunner(const bool& fails, const Unsteady& unsteady,
                       const Second& second = computes_the_same, const Compute& compute = counting)
      : fails_(fails), unsteady_(unsteady), second_(second), compute_(compute) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, const PartRun& part,
                  Duration) override {
    const manifest::Range range = part.range;
    if (fails_) return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    ByteVector bytes;
    if (compute_) {
      bytes = compute_(range);
    } else {
      for (std::uint32_t i = range.first; i < range.first + range.count; ++i)
        append_le(bytes, i ^ whim(range));
    }
    if (is_second_ && second_ == Second::other) {
      for (std::size_t at = 0; at < bytes.size(); at += 4) bytes[at] ^= other_device;
    }
    ++runs_;
    return Ran{.outputs = {std::move(bytes)}, .seconds = 0.0001};
  }
  void rest() override {}
  std::string vendor() const override { return is_second_ ? "google" : "mesa"; }
  std::unique_ptr<PartRunner> on_another_device() override {
    if (second_ == Second::none) return nullptr;
    auto runner = std::make_unique<CountRunner>(fails_, unsteady_, second_, compute_);
    runner->is_second_ = true;
    return runner;
  }

 private:
  static constexpr Second computes_the_same = Second::same;
  static inline const Compute counting = {};

  [[nodiscard]] std::uint32_t whim(manifest::Range range) const {
    if (unsteady_ == Unsteady::by_range) return range.count << 16;
    return unsteady_ == Unsteady::by_run ? (runs_ + 1) << 16 : 0;
  }

  const bool& fails_;
  const Unsteady& unsteady_;
  const Second& second_;
  const Compute& compute_;
  bool is_second_ = false;
  std::uint32_t runs_ = 0;
};

}  // namespace weft::coordinator
