// The WGSL of a convolution by subgroup matrices. Private to the folder.
#pragma once

#include <string>
#include <string_view>

#include "engine/onnx/gpu/matrix_plan.h"

namespace weft::onnx {

// Writes the text of a kernel. `step` and `s` in the text count steps.
class MatrixText {
 public:
  MatrixText(const MatrixPlan& plan, std::string in, std::string factors)
      : p_(plan), in_(std::move(in)), factors_(std::move(factors)) {}

  [[nodiscard]] std::string types() const;

  // Statements that find the results of a workgroup, a subgroup and a thread.
  [[nodiscard]] std::string places() const;

  // Statements that copy all steps and multiply them. The inputs of a step are read before the
  // previous step is multiplied, without a branch in between, so that a thread does not wait for
  // them.
  [[nodiscard]] std::string steps() const;

  // Statements that add the slices' sums. For each result they set `total`, `place_out` (its
  // channel) and `o` (its element) and run `inside`.
  [[nodiscard]] std::string results(std::string_view inside) const;

 private:
  // Matrices that a subgroup multiplies one after the other in a step.
  [[nodiscard]] std::int64_t depths() const { return p_.tiles.depth / p_.tiles.slices / p_.unit.k; }
  // Matrices of 8 x 8 are those of software GPUs, whose drivers write out every element of a
  // matrix. They compile faster if the matrices are multiplied in a loop that cannot be unrolled.
  [[nodiscard]] bool in_loop() const { return p_.unit.m < 16; }

  [[nodiscard]] std::string lefts() const;
  [[nodiscard]] std::string products() const;
  [[nodiscard]] std::string depth_text(std::int64_t d) const;
  // The statement that loads weights of matrix `d` of a step, for the subgroup's row `i` of
  // matrices.
  [[nodiscard]] std::string left(std::int64_t i, std::int64_t d) const;
  [[nodiscard]] std::string products_of(std::int64_t d) const;

  [[nodiscard]] std::int64_t copies() const { return p_.tiles.depth / p_.rows_at_once; }

  // Statements that read the inputs of step `s` that the thread copies.
  [[nodiscard]] std::string fetch() const;
  [[nodiscard]] std::string fetch_fours() const;
  // Statements that set `from_T` (the input's element in its plane) and `inside_T` for the thread's
  // place T at a tap, of which `offset_D` is the offset in dimension D.
  [[nodiscard]] std::string tap_text(const std::string& suffix, const std::string& term_fits) const;
  [[nodiscard]] std::string offsets(const std::string& tap, const std::string& suffix) const;
  // Statements that read the elements of copy `i` of both places, from the channel `channel` (an
  // expression), if `fits` (an expression, or empty).
  [[nodiscard]] std::string reads(std::int64_t i, const std::string& channel,
                                  const std::string& suffix, const std::string& fits) const;
  [[nodiscard]] std::string fetch_taps() const;
  [[nodiscard]] std::string fetch_mixed() const;

  // Statements that store what fetch() has read in the memory of the workgroup.
  [[nodiscard]] std::string put() const;

  const MatrixPlan& p_;
  const std::string in_, factors_;  // Names of bindings.
};

}  // namespace weft::onnx
