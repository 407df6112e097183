// The rows that go through a model together: positions of one sequence, or of several. Kernels read
// the structs below from buffers.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::kernels {

// An element of a storage buffer with one element for each row: the slot of the sequence's cache,
// and the row's position in the sequence.
struct RowPlace {
  std::uint32_t slot = 0;
  std::uint32_t position = 0;
  std::uint32_t run = 0;  // The number of rows before this row in its segment.
  // The number of rows in this row's segment. Only attention over whole texts uses it.
  std::uint32_t segment_rows = 0;
};

// The size of the batch, in a uniform buffer.
struct BatchSize {
  std::uint32_t rows = 0;
  std::uint32_t segments = 0;  // Runs of rows with one slot and consecutive positions.
  std::uint32_t unused[2] = {0, 0};
};

// A segment of rows, as an element of a storage buffer that has one element for each segment.
struct Segment {
  std::uint32_t slot = 0;
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t unused = 0;
};

}  // namespace weft::kernels
