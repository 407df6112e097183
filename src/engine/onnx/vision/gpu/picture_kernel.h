// A kernel that fits a picture on the GPU to the input of a detector. It computes what fitted() and
// tensor_of_picture() compute on the processor, within one level of 255. The picture is not read
// back.
//
//   WEFT_CO_ASSIGN(auto kernel, co_await PictureKernel::create(device));
//   WEFT_ASSIGN(auto bound, kernel->bind({.picture_width = 1280, ...}));
//   bound->write(picture, ring, encoder);   or write four bytes a pixel to bound->picture() in
//                                           another way
//   bound->record(encoder);   bound->input() then holds [3][height][width]
//
// Threading: the device's thread. Lifetime: the device outlives the kernel, and the kernel outlives
// the Bounds that it made.
#pragma once

#include <memory>

#include "engine/gpu/device.h"
#include "engine/gpu/staging.h"
#include "engine/onnx/vision/picture.h"

namespace weft::onnx {

class PictureKernel {
 public:
  struct Geometry {
    std::int64_t picture_width = 0;
    std::int64_t picture_height = 0;
    std::int64_t width = 0;  // The width of the detector's input.
    std::int64_t height = 0;
    Fit fit = Fit::letterbox;
    PixelScale scale = {};
    bool packed = false;  // Pixels take three bytes, as in a Picture, instead of four.
  };
  // The buffers and tables for pictures of one geometry.
  class Bound {
   public:
    // The buffer of the picture. A pixel is red, green, blue and, unless the geometry is packed, a
    // byte that is not used; rows begin bytes_per_row() bytes apart.
    [[nodiscard]] const gpu::Buffer& picture() const { return picture_; }
    [[nodiscard]] std::uint64_t bytes_per_row() const { return bytes_per_row_; }
    [[nodiscard]] const gpu::Buffer& input() const { return input_; }
    [[nodiscard]] const Placement& placement() const { return part_.placement; }
    // Records the upload of the pixels of `picture` into picture(). Only for packed geometries.
    void write(const Picture& picture, gpu::UploadRing& ring, gpu::Encoder& encoder) const;
    [[nodiscard]] std::uint64_t picture_bytes() const { return picture_.size(); }
    void record(gpu::Encoder& encoder) const;

   private:
    friend class PictureKernel;
    const PictureKernel* kernel_ = nullptr;
    Geometry geometry_;
    PlacedPart part_;
    std::uint64_t bytes_per_row_ = 0;
    gpu::Buffer picture_, columns_, wide_, rows_, place_, input_;
    gpu::BindGroup along_rows_, along_columns_;
  };

  [[nodiscard]] static Async<Result<std::unique_ptr<PictureKernel>>> create(gpu::Device& device);
  // Fails with resource_exhausted if a side of the picture is longer than side_max pixels, or if
  // the picture takes more bytes than the device can bind at once.
  [[nodiscard]] Result<std::unique_ptr<Bound>> bind(const Geometry& geometry) const;

  static constexpr std::int64_t side_max = 8192;

 private:
  PictureKernel(gpu::Device& device, gpu::Pipeline along_rows, gpu::Pipeline along_columns)
      : device_(device),
        along_rows_(std::move(along_rows)),
        along_columns_(std::move(along_columns)) {}

  gpu::Device& device_;
  const gpu::Pipeline along_rows_;
  const gpu::Pipeline along_columns_;
};

}  // namespace weft::onnx
