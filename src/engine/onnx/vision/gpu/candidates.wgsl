// What may be a box among a detector's outputs: one thread a row. Rows over the threshold are written
// as they stand, in any order; the processor computes scores from them in 64 bits and decides.
//
// Everything is compared as integers in the order of floats, as the processor compares floats: a GPU
// may flush small numbers to zero, and may assume that there are no infinities and no NaN.
struct About {
  rows: u32,
  classes: u32,
  corners: u32,  // 0: scores has rows of box, object and classes. 1: rows of classes; boxes apart.
  room: u32,     // Candidates that fit.
  least: i32,    // order_of() of the smallest number over the threshold.
  product_least: i32,  // Of a product in f32 that may be over it.
}
// Row, class, object and score, then the box.
struct Found {
  count: atomic<u32>,  // May be over about.room.
  unused: array<u32, 7>,
  candidates: array<array<u32, 8>>,
}
@group(0) @binding(0) var<storage, read> scores: array<u32>;
@group(0) @binding(1) var<storage, read> boxes: array<u32>;
@group(0) @binding(2) var<storage, read> about: About;
@group(0) @binding(3) var<storage, read_write> found: Found;

const infinity = 0x7f800000u;
// Products of two numbers below 2^63 are no infinities.
const large = 0x5f000000u;
const one = 0x3f800000u;

fn size_of(bits: u32) -> u32 { return bits & 0x7fffffffu; }
fn order_of(bits: u32) -> i32 { return select(i32(bits), -i32(size_of(bits)), bits > 0x7fffffffu); }
fn is_number(bits: u32) -> bool { return size_of(bits) <= infinity; }
fn is_over(bits: u32, least: i32) -> bool { return is_number(bits) && order_of(bits) >= least; }
fn is_less(a: u32, b: u32) -> bool { return is_number(a) && is_number(b) && order_of(a) < order_of(b); }

fn add(row: u32, class_id: u32, object: u32, score: u32, box: u32, with_boxes: bool) {
  let place = atomicAdd(&found.count, 1u);
  if (place >= about.room) { return; }
  found.candidates[place][0] = row;
  found.candidates[place][1] = class_id;
  found.candidates[place][2] = object;
  found.candidates[place][3] = score;
  for (var k = 0u; k < 4u; k++) {
    if (with_boxes) { found.candidates[place][4u + k] = boxes[box + k]; }
    else { found.candidates[place][4u + k] = scores[box + k]; }
  }
}

fn with_object(row: u32) {
  let width = about.classes + 5u;
  let first = row * width;
  let object = scores[first + 4u];
  if (!is_over(object, about.least)) { return; }
  var class_id = 0u;
  var best = scores[first + 5u];
  for (var c = 1u; c < about.classes; c++) {
    let score = scores[first + 5u + c];
    if (is_less(best, score)) {
      best = score;
      class_id = c;
    }
  }
  let product = bitcast<u32>(bitcast<f32>(object) * bitcast<f32>(best));
  let is_large = size_of(object) >= large || size_of(best) >= large;
  if (!is_large && order_of(product) < about.product_least) { return; }
  add(row, class_id, object, best, first, false);
}

fn with_corners(row: u32) {
  for (var c = 1u; c < about.classes; c++) {
    let score = scores[row * about.classes + c];
    if (is_over(score, about.least)) { add(row, c, one, score, row * 4u, true); }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let row = id.x + id.y * groups.x * 64u;
  if (row >= about.rows) { return; }
  if (about.corners == 0u) { with_object(row); } else { with_corners(row); }
}
