#include "engine/onnx/vision/gpu/picture_kernel.h"

#include <algorithm>
#include <bit>

#include "engine/onnx/vision/gpu/picture_columns.wgsl.h"
#include "engine/onnx/vision/gpu/picture_rows.wgsl.h"

namespace weft::onnx {
namespace {

using gpu::BindingKind;
using gpu::BufferUsage;

// The width of a workgroup, which the shaders repeat.
constexpr std::uint32_t workgroup_width = 64;
constexpr std::int64_t row_alignment = 64;  // Pixels; texture copies need rows of 256 bytes.

std::uint32_t groups_for(std::int64_t width) {
  return static_cast<std::uint32_t>((width + workgroup_width - 1) / workgroup_width);
}

// Makes the table of pixel weights that both shaders read.
std::vector<std::uint32_t> share_table(std::array<std::uint32_t, 4> head,
                                       const std::vector<PixelShares>& shares) {
  std::vector<std::uint32_t> words(head.begin(), head.end());
  auto next = static_cast<std::uint32_t>(words.size() + 3 * shares.size());
  for (const PixelShares& one : shares) {
    const auto count = static_cast<std::uint32_t>(one.weights.size());
    words.insert(words.end(), {static_cast<std::uint32_t>(one.first), count, next});
    next += count;
  }
  for (const PixelShares& one : shares)
    for (const double weight : one.weights)
      words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(weight)));
  return words;
}

gpu::Buffer filled(gpu::Device& device, std::span<const std::uint32_t> words) {
  gpu::Buffer buffer =
      device.create_buffer({.size = words.size_bytes(),
                            .usage = BufferUsage::storage | BufferUsage::copy_destination,
                            .label = "picture table"});
  device.write(buffer, 0, weft::as_bytes(words));
  return buffer;
}

}  // namespace

Async<Result<std::unique_ptr<PictureKernel>>> PictureKernel::create(gpu::Device& device) {
  WEFT_CO_ASSIGN(gpu::Pipeline along_rows,
                 co_await device.create_pipeline({.wgsl = std::string(wgsl::picture_columns_wgsl),
                                                  .label = "picture columns",
                                                  .groups = {{{0, BindingKind::storage_read},
                                                              {1, BindingKind::storage_read},
                                                              {2, BindingKind::storage}}}}));
  WEFT_CO_ASSIGN(gpu::Pipeline along_columns,
                 co_await device.create_pipeline({.wgsl = std::string(wgsl::picture_rows_wgsl),
                                                  .label = "picture rows",
                                                  .groups = {{{0, BindingKind::storage_read},
                                                              {1, BindingKind::storage_read},
                                                              {2, BindingKind::storage_read},
                                                              {3, BindingKind::storage}}}}));
  co_return std::unique_ptr<PictureKernel>(
      new PictureKernel(device, std::move(along_rows), std::move(along_columns)));
}

Result<std::unique_ptr<PictureKernel::Bound>> PictureKernel::bind(const Geometry& geometry) const {
  for (const std::int64_t side : {geometry.picture_width, geometry.picture_height})
    if (side < 1 || side > side_max)
      return fail(ErrorCode::resource_exhausted,
                  "A picture of {} x {} pixels is given; sides have 1 to {}.",
                  geometry.picture_width, geometry.picture_height, side_max);
  check(geometry.width > 0 && geometry.height > 0, "an input has pixels");
  auto bound = std::make_unique<Bound>();
  bound->kernel_ = this;
  bound->geometry_ = geometry;
  bound->part_ = placed_part(geometry.picture_width, geometry.picture_height, geometry.width,
                             geometry.height, geometry.fit);
  const PlacedPart& part = bound->part_;
  const std::int64_t pixels_per_row =
      geometry.packed
          ? geometry.picture_width
          : (geometry.picture_width + row_alignment - 1) / row_alignment * row_alignment;
  const std::int64_t bytes_per_pixel = geometry.packed ? 3 : 4;
  bound->bytes_per_row_ = static_cast<std::uint64_t>(pixels_per_row * bytes_per_pixel);
  const std::int64_t picture_words =
      (pixels_per_row * geometry.picture_height * bytes_per_pixel + 3) / 4;
  const std::int64_t wide_words = part.width * geometry.picture_height;
  if (const auto words = static_cast<std::uint64_t>(std::max(picture_words, wide_words));
      words * 4 > device_.limits().storage_binding_bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "A picture of {} x {} pixels takes {} bytes; this GPU binds {} at once.",
                geometry.picture_width, geometry.picture_height, words * 4,
                device_.limits().storage_binding_bytes_max);
  const auto make = [&](std::int64_t words, std::string_view label) {
    return device_.create_buffer(
        {.size = static_cast<std::uint64_t>(words) * 4,
         .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
         .label = label});
  };
  bound->picture_ = make(picture_words, "picture");
  bound->wide_ = make(wide_words, "picture, narrower");
  bound->input_ = make(3 * geometry.width * geometry.height, "picture, fitted");
  bound->columns_ = filled(
      device_, share_table({static_cast<std::uint32_t>(part.width),
                            static_cast<std::uint32_t>(geometry.picture_height),
                            static_cast<std::uint32_t>(pixels_per_row), geometry.packed ? 1U : 0U},
                           pixel_shares(geometry.picture_width, part.width)));
  bound->rows_ = filled(
      device_, share_table({0, 0, 0, 0}, pixel_shares(geometry.picture_height, part.height)));
  bound->place_ =
      filled(device_,
             std::array<std::uint32_t, 10>{
                 static_cast<std::uint32_t>(geometry.width),
                 static_cast<std::uint32_t>(geometry.height), static_cast<std::uint32_t>(part.left),
                 static_cast<std::uint32_t>(part.top), static_cast<std::uint32_t>(part.width),
                 static_cast<std::uint32_t>(part.height), geometry.scale.blue_first ? 1u : 0u,
                 std::bit_cast<std::uint32_t>(static_cast<float>(grey_around)),
                 std::bit_cast<std::uint32_t>(geometry.scale.mean),
                 std::bit_cast<std::uint32_t>(geometry.scale.scale)});
  bound->along_rows_ = device_.create_bind_group(along_rows_, 0,
                                                 {{.binding = 0, .buffer = bound->picture_},
                                                  {.binding = 1, .buffer = bound->columns_},
                                                  {.binding = 2, .buffer = bound->wide_}});
  bound->along_columns_ = device_.create_bind_group(along_columns_, 0,
                                                    {{.binding = 0, .buffer = bound->wide_},
                                                     {.binding = 1, .buffer = bound->rows_},
                                                     {.binding = 2, .buffer = bound->place_},
                                                     {.binding = 3, .buffer = bound->input_}});
  return bound;
}

void PictureKernel::Bound::write(const Picture& picture, gpu::UploadRing& ring,
                                 gpu::Encoder& encoder) const {
  check(geometry_.packed && picture.width == geometry_.picture_width &&
            picture.height == geometry_.picture_height,
        "a picture has the size that was bound");
  ring.write(encoder, picture_, picture.pixels);
}

void PictureKernel::Bound::record(gpu::Encoder& encoder) const {
  gpu::Pass pass = encoder.begin_pass("picture");
  pass.run(kernel_->along_rows_, {&along_rows_},
           {groups_for(part_.width), static_cast<std::uint32_t>(geometry_.picture_height), 1});
  pass.run(kernel_->along_columns_, {&along_columns_},
           {groups_for(geometry_.width), static_cast<std::uint32_t>(geometry_.height), 1});
}

}  // namespace weft::onnx
