// A kernel that chooses on the GPU the rows of a detector's outputs that may be boxes, so that only
// these rows are read back instead of the whole outputs.
//
//   WEFT_CO_ASSIGN(auto kernel, co_await CandidateKernel::create(device));
//   WEFT_ASSIGN(auto bound, kernel->bind(shapes, outputs));   // once for each set of buffers
//   bound->set_score(bounds.score_min);
//   bound->record(encoder);  ... submit ...
//   WEFT_CO_ASSIGN(const auto candidates, co_await bound->read());
//
// Threading: the device's thread. Lifetime: the device outlives the kernel, and the kernel outlives
// the Bounds that it made.
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
    // Sets the minimum score of a candidate for the next record(), as in DetectionBounds. Before
    // the first call no row is a candidate.
    void set_score(double score_min);
    // Records the dispatch of the kernel and the copy of the candidates for the readback.
    void record(gpu::Encoder& encoder) const;
    // Reads the candidates back after the submit, in any order. Returns nullopt if there were more
    // than candidates_max. The result has every candidate that detections_of() needs. It may also
    // have a few candidates that detections_of() ignores.
    [[nodiscard]] Async<Result<std::optional<std::vector<Candidate>>>> read();
    // The bytes that one read() reads back from the GPU.
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
    std::vector<std::uint32_t> words_;  // Data of the latest read(); the memory is reused.
  };

  [[nodiscard]] static Async<Result<std::unique_ptr<CandidateKernel>>> create(gpu::Device& device);
  // `outputs` are the buffers that hold outputs of the shapes `shapes`, as f32. Fails with
  // unsupported if detector_kind() does not know the shapes.
  [[nodiscard]] Result<std::unique_ptr<Bound>> bind(
      const std::vector<Shape>& shapes, const std::vector<gpu::BoundBuffer>& outputs) const;

  // The most candidates that one read() can return, 32 bytes each. A picture of a street full of
  // people has a few hundred with a score over 0.25.
  static constexpr std::uint32_t candidates_max = 1024;

 private:
  CandidateKernel(gpu::Device& device, gpu::Pipeline pipeline)
      : device_(device), pipeline_(std::move(pipeline)) {}

  gpu::Device& device_;
  const gpu::Pipeline pipeline_;
};

}  // namespace weft::onnx
