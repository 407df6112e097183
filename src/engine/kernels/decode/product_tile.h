// The products of int8_product.h, with the same bits, for many rows: a team holds the sums of
// several weight rows and several rows at once, so that each number that is read is used for
// several products.
//
// The bindings are those of int8_product.h. Rows are read, and for swiglu written, in whole tiles.
#pragma once

#include "engine/kernels/decode/int8_product.h"
#include "engine/kernels/decode/quantize_rows.h"

namespace weft::kernels {

struct ProductTile {
  std::uint32_t weights = 4;       // Weight rows of a team; for swiglu, half of them are ups.
  std::uint32_t rows = 8;          // The number of rows that a team computes.
  std::uint32_t teams_across = 4;  // Teams of a workgroup with different weight rows.
  std::uint32_t teams_down = 1;    // Teams of a workgroup with different rows.
  [[nodiscard]] std::uint32_t workgroup(const Team& team) const {
    return teams_across * teams_down * team.size;
  }
};

// True if the device can compute the product in these tiles. The fields `batch`, `rows_each` and
// `ahead` of the spec are not used; `share` must be that of the int8_product.h kernel with the same
// bits.
[[nodiscard]] bool product_tile_possible(const gpu::Device& device, const Int8ProductSpec& spec,
                                         const ProductTile& tile, const Team& team);
[[nodiscard]] gpu::PipelineOptions product_tile_pipeline(const Int8ProductSpec& spec,
                                                         const ProductTile& tile, const Team& team,
                                                         bool packed);
[[nodiscard]] gpu::Workgroups product_tile_workgroups(const Int8ProductSpec& spec,
                                                      const ProductTile& tile, std::uint32_t rows);

// Norms and rounds rows for products with Input::normed, as a product with Input::norm does in
// workgroups of this size. Bindings of group 0: 0 quants, 1 scales, 2 factors (f32, one for each
// row). Bindings of group 1: 0 x (read), 1 the norm's weight (read).
[[nodiscard]] gpu::PipelineOptions norm_rows_pipeline(const NormQuantizeSpec& spec,
                                                      const Team& team, std::uint32_t workgroup);

}  // namespace weft::kernels
