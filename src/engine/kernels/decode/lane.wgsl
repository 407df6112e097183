// What 16 columns add to a sum: one multiplication and fused additions, so that every kernel that goes through a row's columns in
// the same order has the same bits.
fn add_lane(sum: f32, w: vec4u, w_scale: vec2f, x: vec4u, scale: vec2f) -> f32 {
  let t = dot4(w.x, x.x) + dot4(w.y, x.y) + dot4(w.z, x.z) + dot4(w.w, x.w);
  let out = fma(w_scale.x, scale.x * f32(t), sum);
  if (HAS_OFFSET) { return fma(w_scale.y, scale.y, out); }
  return out;
}
