// Element e of the head at `start`, normed and turned.
fn normed(start: u32, e: u32, factor: f32, norm: u32) -> f32 {
  if (NORM) { return qkv[start + e] * factor * norms[norm + e]; }
  return qkv[start + e];
}
fn turned(start: u32, e: u32, factor: f32, norm: u32, position: u32) -> f32 {
  let own = normed(start, e, factor, norm);
  if (e >= 2u * PAIRS) { return own; }
  let pair = select(e / 2u, e % PAIRS, HALVES);
  let second = select((e & 1u) == 1u, e >= PAIRS, HALVES);
  let other = normed(start, select(e ^ 1u, select(e + PAIRS, e - PAIRS, second), HALVES), factor, norm);
  let turn = turns[position * PAIRS + pair];
  return own * turn.x + select(-other, other, second) * turn.y;
}
fn turned4(start: u32, four: u32, factor: f32, norm: u32, position: u32) -> vec4f {
  let e = 4u * four;
  return vec4f(turned(start, e, factor, norm, position), turned(start, e + 1u, factor, norm, position),
               turned(start, e + 2u, factor, norm, position), turned(start, e + 3u, factor, norm, position));
}
