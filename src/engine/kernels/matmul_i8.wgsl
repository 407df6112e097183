// C[rows][n] = A[rows][k] * B[k][n], int8 operands four to a word, int32 result.
//
// A workgroup of 16 x 16 makes 64 x 64 elements of C, a thread 4 x 4 of them. A's words run along k as they lie; those of B run
// along n, so every 4 x 4 block of bytes is turned on its way into workgroup memory. Rows of A and B are padded with zeros
// to whole words and B to a multiple of four rows, so no element needs a test in the inner loop.
// dot4() comes from the text in front: dot4_packed.wgsl or dot4_plain.wgsl.

struct Shape {
  rows: u32,     // of A and C
  n: u32,        // columns of C
  k_words: u32,  // words in a row of A
  n_words: u32,  // words in a row of B
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<u32>;  // [rows][k_words]
@group(0) @binding(2) var<storage, read> b: array<u32>;  // [4 * k_words][n_words]
@group(0) @binding(3) var<storage, read_write> c: array<i32>;  // [rows][n]

const tile = 64u;     // rows and columns of C in a workgroup
const depth = 8u;     // words of k at a time
const pitch = 9u;     // depth and one more, so that the threads of a column meet different banks

var<workgroup> a_tile: array<u32, tile * pitch>;  // [row][word of k]
var<workgroup> b_tile: array<u32, tile * pitch>;  // [column][word of k]

fn byte_of(word: u32, index: u32) -> u32 { return (word >> (8u * index)) & 0xffu; }

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) index: u32) {
  let first_row = group.y * tile;
  let first_column = group.x * tile;
  var sum: array<array<i32, 4>, 4>;
  for (var k0 = 0u; k0 < shape.k_words; k0 += depth) {
    for (var i = index; i < tile * depth; i += 256u) {
      let row = first_row + i / depth;
      let word = k0 + i % depth;
      var value = 0u;
      if (row < shape.rows && word < shape.k_words) { value = a[row * shape.k_words + word]; }
      a_tile[(i / depth) * pitch + i % depth] = value;
    }
    if (index < tile / 4u * depth) {
      let block = index % (tile / 4u);  // four columns
      let word = index / (tile / 4u);   // four rows
      let column_word = first_column / 4u + block;
      var lines: array<u32, 4>;
      if (k0 + word < shape.k_words && column_word < shape.n_words) {
        for (var r = 0u; r < 4u; r++) { lines[r] = b[(4u * (k0 + word) + r) * shape.n_words + column_word]; }
      }
      for (var j = 0u; j < 4u; j++) {
        b_tile[(4u * block + j) * pitch + word] = byte_of(lines[0], j) | (byte_of(lines[1], j) << 8u) | (byte_of(lines[2], j) << 16u) | (byte_of(lines[3], j) << 24u);
      }
    }
    workgroupBarrier();
    for (var word = 0u; word < depth; word++) {
      var left: array<u32, 4>;
      for (var r = 0u; r < 4u; r++) { left[r] = a_tile[(local.y + 16u * r) * pitch + word]; }
      for (var j = 0u; j < 4u; j++) {
        let right = b_tile[(local.x + 16u * j) * pitch + word];
        for (var r = 0u; r < 4u; r++) { sum[r][j] += dot4(left[r], right); }
      }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < 4u; r++) {
    let row = first_row + local.y + 16u * r;
    for (var j = 0u; j < 4u; j++) {
      let column = first_column + local.x + 16u * j;
      if (row < shape.rows && column < shape.n) { c[row * shape.n + column] = sum[r][j]; }
    }
  }
}
