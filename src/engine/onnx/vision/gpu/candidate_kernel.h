// Chooses on the GPU which rows of a detector's outputs may be boxes, so that these come down and
// not the outputs.
//
//   WEFT_CO_ASSIGN(auto kernel, co_await CandidateKernel::create(device));
//   WEFT_ASSIGN(auto bound, kernel->bind(shapes, outputs));   // once for a place of the outputs
//   bound->set_score(bounds.score_min);
//   bound->record(encoder);  ... submit ...
//   WEFT_CO_ASSIGN(const auto candidates, co_await bound->read());
//
// Threading: the device's thread. Lifetime: the device outlives the kernel, the kernel what it
// bound.
#pragma once

#include <memory>
#include <optional>

#include "engine/gpu/device.h"
#include "engine/onnx/vision/detection.h"

namespace weft::onnx {

class CandidateKernel {
 public:
  class Bound {
   public:
    // Candidates of the next record() are those for a DetectionBounds with this score. Before the
    // first call no row is a candidate.
    void set_score(double score_min);
    // The kernel and the copy of what it found.
    void record(gpu::Encoder& encoder) const;
    // After the submit: in any order; nullopt if there were more than candidates_max. Holds each
    // candidate that detections_of() needs, and few more.
    [[nodiscard]] Async<Result<std::optional<std::vector<Candidate>>>> read();
    // What one read() brings down.
    [[nodiscard]] std::uint64_t bytes() const { return result_.size(); }

   private:
    friend class CandidateKernel;
    explicit Bound(const CandidateKernel& kernel) : kernel_(kernel) {}
    const CandidateKernel& kernel_;
    DetectorKind kind_ = DetectorKind::objectness;
    std::uint32_t rows_ = 0;
    std::uint32_t classes_ = 0;
    std::optional<double> score_min_;
    gpu::Buffer about_, found_, result_;
    gpu::BindGroup group_;
    std::vector<std::uint32_t> words_;  // What came down, kept from read to read.
  };

  [[nodiscard]] static Async<Result<std::unique_ptr<CandidateKernel>>> create(gpu::Device& device);
  // `outputs` are where outputs of `shapes` lie, f32. Fails with unsupported if detector_kind()
  // does not know the shapes.
  [[nodiscard]] Result<std::unique_ptr<Bound>> bind(
      const std::vector<Shape>& shapes, const std::vector<gpu::BoundBuffer>& outputs) const;

  // 32 bytes each. A street that is full of people has a few hundred over a score of 0.25.
  static constexpr std::uint32_t candidates_max = 1024;

 private:
  CandidateKernel(gpu::Device& device, gpu::Pipeline pipeline)
      : device_(device), pipeline_(std::move(pipeline)) {}

  gpu::Device& device_;
  const gpu::Pipeline pipeline_;
};

}  // namespace weft::onnx
