// A workgroup of 16 x 16 threads makes TILE_ROWS x 64 outputs, a thread every 16th row and four neighbouring columns (of gates
// and of ups where the output is gated). Tiles lie in workgroup memory as f32, in fours along the depth, one four apart.
const SIDE = 16u;
const ROWS_EACH = TILE_ROWS / SIDE;
const FOURS = DEPTH / 4u;
const PITCH = FOURS + 1u;
const KINDS = select(1u, 2u, SWIGLU);  // Weight rows for an output.
const SLOTS = 4u * KINDS;              // Weight rows of a thread.

var<workgroup> x_tile: array<vec4f, TILE_ROWS * PITCH>;
var<workgroup> w_tile: array<vec4f, SIDE * SLOTS * PITCH>;

@compute @workgroup_size(SIDE * SIDE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let first_row = group.x * TILE_ROWS;
  let first = group.y * 4u * SIDE;
  let begin = group.z * SPLIT_COLUMNS;
  let end = min(begin + SPLIT_COLUMNS, COLUMNS);
  let down = index / SIDE;
  let across = index % SIDE;
  var sums: array<vec4f, ROWS_EACH * KINDS>;
  for (var k = begin; k < end; k += DEPTH) {
    for (var i = index; i < TILE_ROWS * FOURS; i += SIDE * SIDE) {
      let at = min(k / 4u + i % FOURS, COLUMNS / 4u - 1u);
      x_tile[i / FOURS * PITCH + i % FOURS] = x[min(first_row + i / FOURS, batch.rows - 1u) * X_PITCH + at];
    }
    for (var i = index; i < SIDE * SLOTS * DEPTH / 16u; i += SIDE * SIDE) {
      // Slot across + 16 * j holds column 4 * across + j, so that a thread's columns are neighbours and its reads meet no bank twice.
      let slot = i / (DEPTH / 16u);
      let lane = k / 16u + i % (DEPTH / 16u);
      let column = min(first + slot % SIDE * 4u + slot / SIDE % 4u, OUTPUTS - 1u);
      var w = array<vec4f, 4>();
      if (lane < LANES) { w = load16(column + slot / (4u * SIDE) * OUTPUTS, lane); }
      let at = slot * PITCH + i % (DEPTH / 16u) * 4u;
      w_tile[at] = w[0];
      w_tile[at + 1u] = w[1];
      w_tile[at + 2u] = w[2];
      w_tile[at + 3u] = w[3];
    }
    workgroupBarrier();
    for (var q = 0u; q < FOURS; q++) {
      for (var kind = 0u; kind < KINDS; kind++) {
        let slot = across + kind * 4u * SIDE;
        let w0 = w_tile[slot * PITCH + q];
        let w1 = w_tile[(slot + SIDE) * PITCH + q];
        let w2 = w_tile[(slot + 2u * SIDE) * PITCH + q];
        let w3 = w_tile[(slot + 3u * SIDE) * PITCH + q];
        for (var r = 0u; r < ROWS_EACH; r++) {
          let left = x_tile[(down + r * SIDE) * PITCH + q];
          sums[r * KINDS + kind] += vec4f(dot(left, w0), dot(left, w1), dot(left, w2), dot(left, w3));
        }
      }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < ROWS_EACH; r++) {
    var value = sums[r * KINDS];
    if (SWIGLU) { value = gate4(value) * sums[r * KINDS + KINDS - 1u]; }
    finish(first_row + down + r * SIDE, first + 4u * across, group.z * batch.rows, value);
  }
}
