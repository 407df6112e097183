// Products as int8_product.h makes them, with the same bits, for many rows: a team holds the sums
// of several rows of weights and of several rows at once, so that each number that is read serves
// several products.
//
// Groups as int8_product.h's. Rows are read, and for swiglu written, in whole tiles.
#pragma once

#include "engine/kernels/decode/int8_product.h"
#include "engine/kernels/decode/quantize_rows.h"

namespace weft::kernels {

struct ProductTile {
  std::uint32_t weights = 4;       // Weight rows of a team; for swiglu gates and as many ups.
  std::uint32_t rows = 8;          // Rows of a team.
  std::uint32_t teams_across = 4;  // Teams of a workgroup with weight rows of their own,
  std::uint32_t teams_down = 1;    // and with rows of their own.
  [[nodiscard]] std::uint32_t workgroup(const Team& team) const {
    return teams_across * teams_down * team.size;
  }
};

// The specification's `batch`, `rows_each` and `ahead` do not count; `share` has to be that of
// the product with the same bits.
[[nodiscard]] bool product_tile_possible(const gpu::Device& device, const Int8ProductSpec& spec,
                                         const ProductTile& tile, const Team& team);
[[nodiscard]] gpu::PipelineOptions product_tile_pipeline(const Int8ProductSpec& spec,
                                                         const ProductTile& tile, const Team& team,
                                                         bool packed);
[[nodiscard]] gpu::Workgroups product_tile_workgroups(const Int8ProductSpec& spec,
                                                      const ProductTile& tile, std::uint32_t rows);

// Rows normed and rounded as a product with Input::norm does it in workgroups of this size, for
// products with Input::normed.
// Group 0: 0 quants, 1 scales, 2 factors (f32, one a row). Group 1: 0 x (read), 1 the norm's weight
// (read).
[[nodiscard]] gpu::PipelineOptions norm_rows_pipeline(const NormQuantizeSpec& spec,
                                                      const Team& team, std::uint32_t workgroup);

}  // namespace weft::kernels
