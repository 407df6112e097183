// A logit of a row: impossible where it is NaN or -infinity.
fn raw_logit(row: u32, token: u32) -> f32 {
  let bits = logits[row * VOCABULARY + token];
  if (bits == 0x7f800000u) { return -IMPOSSIBLE; }
  if ((bits & 0x7fffffffu) >= 0x7f800000u) { return IMPOSSIBLE; }
  return bitcast<f32>(bits);
}

// Integers in the order of floats; the two zeros are equal, and no number is 0.
fn key_of(logit: f32) -> u32 {
  var bits = bitcast<u32>(logit);
  if (bits == 0x80000000u) { bits = 0u; }
  return bits ^ select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u);
}
fn logit_of(key: u32) -> f32 { return bitcast<f32>(key ^ select(0xffffffffu, 0x80000000u, (key >> 31u) == 1u)); }

// The best score and its token, and two sums over tokens: exp(raw logit - raw), exp(logit - score) in restricted rows.
struct Best { raw: f32, sum: f32, score: f32, token: u32, mass: f32 }

fn none() -> Best { return Best(IMPOSSIBLE, 0.0, IMPOSSIBLE, NONE, 0.0); }
fn join(a: Best, b: Best) -> Best {
  let first = a.score > b.score || (a.score == b.score && a.token <= b.token);
  let raw = max(a.raw, b.raw);
  let score = max(a.score, b.score);
  return Best(raw, a.sum * exp(a.raw - raw) + b.sum * exp(b.raw - raw), score, select(b.token, a.token, first),
              a.mass * exp(a.score - score) + b.mass * exp(b.score - score));
}

var<workgroup> bests: array<Best, WORKGROUP>;
var<workgroup> joined: Best;
fn workgroup_best(mine: Best, index: u32) -> Best {
  bests[index] = mine;
  workgroupBarrier();
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    if (index < half) { bests[index] = join(bests[index], bests[index + half]); }
    workgroupBarrier();
  }
  if (index == 0u) { joined = bests[0]; }
  return workgroupUniformLoad(&joined);
}
