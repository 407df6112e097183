// A lane of 16 weights as f16, eight to a cell, every four of them in the order 0, 2, 1, 3.
struct Lane { a: vec4u, b: vec4u }
fn halves(w: vec4f) -> vec2u { return bitcast<vec2u>(vec4<f16>(w.xzyw)); }
fn lane16(row: u32, lane: u32) -> Lane {
  let w = load16(row, lane);
  return Lane(vec4u(halves(w[0]), halves(w[1])), vec4u(halves(w[2]), halves(w[3])));
}
fn halves16(raw: Lane, lane: u32) -> array<vec4u, 2> { return array<vec4u, 2>(raw.a, raw.b); }
