// The rows that go through a model together: positions of one sequence, or of several. Kernels that
// need to know get these two buffers.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::kernels {

// A storage buffer of one element for each row: which sequence's cache it belongs to, and where it
// stands there.
struct RowPlace {
  std::uint32_t slot = 0;
  std::uint32_t position = 0;
  std::uint32_t run = 0;  // Rows before it in its segment.
  // Rows of its segment, for attention over whole texts; else unused.
  std::uint32_t segment_rows = 0;
};

// A uniform.
struct BatchSize {
  std::uint32_t rows = 0;
  std::uint32_t segments = 0;  // Runs of rows with one slot and consecutive positions.
  std::uint32_t unused[2] = {0, 0};
};

// A storage buffer of one element for each segment.
struct Segment {
  std::uint32_t slot = 0;
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t unused = 0;
};

}  // namespace weft::kernels
