const HAS_OFFSET = true;
fn quant16(row: u32, lane: u32) -> vec4u {
  let q = quants[row * LANES + lane];
  return vec4u(q.x, q.x >> 4u, q.y, q.y >> 4u) & vec4u(0x0f0f0f0fu);
}
fn scale16(row: u32, lane: u32) -> vec2f {
  let pair = unpack2x16float(scales[row * ((LANES + 3u) / 4u) + lane / 4u]);
  let scale = select(pair.x, pair.y, (lane & 2u) != 0u);
  return vec2f(scale, -8.0 * scale);
}
