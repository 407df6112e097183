// 32 numbers as int8 with one scale. A lane is 16 of them: its quants, and its scale beside the sum of what it stands for.
struct QuantizedBlock { low: vec4u, high: vec4u, low_scale: vec2f, high_scale: vec2f }

fn pack_bytes(q: vec4f) -> u32 {
  let i = vec4u(vec4i(q)) & vec4u(255u);
  return i.x | (i.y << 8u) | (i.z << 16u) | (i.w << 24u);
}
fn quantize_block(v: array<vec4f, 8>) -> QuantizedBlock {
  var top = vec4f();
  for (var i = 0u; i < 8u; i++) { top = max(top, abs(v[i])); }
  let most = max(max(top.x, top.y), max(top.z, top.w));
  let inverse = select(0.0, 127.0 / most, most > 0.0);
  var q: array<vec4f, 8>;
  for (var i = 0u; i < 8u; i++) { q[i] = round(v[i] * inverse); }
  let low = q[0] + q[1] + q[2] + q[3];
  let high = q[4] + q[5] + q[6] + q[7];
  let scale = most / 127.0;
  return QuantizedBlock(vec4u(pack_bytes(q[0]), pack_bytes(q[1]), pack_bytes(q[2]), pack_bytes(q[3])),
                        vec4u(pack_bytes(q[4]), pack_bytes(q[5]), pack_bytes(q[6]), pack_bytes(q[7])),
                        vec2f(scale, scale * (low.x + low.y + low.z + low.w)), vec2f(scale, scale * (high.x + high.y + high.z + high.w)));
}
