// The best of some logits, and the sum of exp(logit - best).
struct Best { best: f32, token: u32, sum: f32, unused: u32 }

fn none() -> Best { return Best(-3.0e38, 0xffffffffu, 0.0, 0u); }
fn join(a: Best, b: Best) -> Best {
  let first = a.best > b.best || (a.best == b.best && a.token <= b.token);
  let best = max(a.best, b.best);
  return Best(best, select(b.token, a.token, first), a.sum * exp(a.best - best) + b.sum * exp(b.best - best), 0u);
}

var<workgroup> bests: array<Best, WORKGROUP>;
fn workgroup_best(mine: Best, index: u32) -> Best {
  bests[index] = mine;
  workgroupBarrier();
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    if (index < half) { bests[index] = join(bests[index], bests[index + half]); }
    workgroupBarrier();
  }
  return bests[0];
}
