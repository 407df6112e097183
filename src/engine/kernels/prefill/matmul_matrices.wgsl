// A workgroup makes TILE_ROWS x TILE_COLUMNS products, a subgroup SUBGROUP_ROWS x SUBGROUP_COLUMNS of them in matrices of
// MATRIX_M x MATRIX_N. Tiles lie in workgroup memory as f16, eight to a cell, rows one cell apart from each other so that they
// meet different banks. The order of the depth is the one of halves16(), for x too. The statements that go over matrices and over what a thread carries are written out by matmul_text.cpp.
alias Left = subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>;
alias Right = subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>;
alias Sum = subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;

const PITCH = DEPTH / 8u + 1u;
const W_TILE = TILE_ROWS * PITCH;
const SUBGROUPS_ACROSS = TILE_COLUMNS / SUBGROUP_COLUMNS;
const PATCH = MATRIX_M * MATRIX_N / 4u;
const KINDS = select(1u, 2u, SWIGLU);  // Weight rows for an output.
const SUBGROUP_OUTPUTS = SUBGROUP_COLUMNS / KINDS;

var<workgroup> stage: array<vec4u, MEMORY>;

// The weight row of a column of the tile: a subgroup's gates stand before its ups.
fn weight_row(first: u32, column: u32) -> u32 {
  let in_subgroup = column % SUBGROUP_COLUMNS;
  let output = first + column / SUBGROUP_COLUMNS * SUBGROUP_OUTPUTS + in_subgroup % SUBGROUP_OUTPUTS;
  return min(output, OUTPUTS - 1u) + in_subgroup / SUBGROUP_OUTPUTS * OUTPUTS;
}

fn x_halves(a: vec4f, b: vec4f) -> vec4u {
  let top = vec4f(65504.0);
  return vec4u(bitcast<vec2u>(vec4<f16>(clamp(a, -top, top).xzyw)), bitcast<vec2u>(vec4<f16>(clamp(b, -top, top).xzyw)));
}

fn x_turned(cell: vec4u) -> vec4u {
  return vec4u((cell.x & 0xffffu) | (cell.y << 16u), (cell.x >> 16u) | (cell.y & 0xffff0000u), (cell.z & 0xffffu) | (cell.w << 16u),
               (cell.z >> 16u) | (cell.w & 0xffff0000u));
}

// A matrix of sums (with its ups behind it) from workgroup memory into y, by the lanes of one subgroup.
fn finish_patch(row: u32, column: u32, shift: u32, at: u32, lane: u32) {
  for (var i = lane; i < PATCH; i += SUBGROUP) {
    var value = bitcast<vec4f>(stage[at + i]);
    if (SWIGLU) { value = gate4(value) * bitcast<vec4f>(stage[at + PATCH + i]); }
    finish(row + i / (MATRIX_N / 4u), column + i % (MATRIX_N / 4u) * 4u, shift, value);
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32, @builtin(subgroup_id) subgroup: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  let first_row = group.x * TILE_ROWS;
  let first = group.y * (TILE_COLUMNS / KINDS);
  let begin = group.z * SPLIT_COLUMNS;
  let end = min(begin + SPLIT_COLUMNS, COLUMNS);
  let subgroup_row = subgroup / SUBGROUPS_ACROSS * SUBGROUP_ROWS;
  let subgroup_column = subgroup % SUBGROUPS_ACROSS * SUBGROUP_COLUMNS;
  let x_from = subgroup_row * PITCH;
  let w_from = W_TILE + subgroup_column * PITCH;
//@sums
//@places
  {
    let k = begin;
//@fetch
//@put
  }
  workgroupBarrier();
//@steps
  let shift = group.z * batch.rows;
  let mine = subgroup * PATCH * KINDS * PATCHES;
//@finish
}
