// The best of a tile. In penalized rows the count of a token that occurs makes room for its penalized logit's bits (0 for
// tokens that do not occur; a logit of 0 is written as -0), in restricted rows groups of tokens leave their largest key.
var<workgroup> highs: array<u32, WORKGROUP>;

fn penalized(how: Settings, raw: f32, count: u32) -> f32 {
  let logit = select(raw * how.repetition, raw / how.repetition, raw > 0.0);
  return logit - (how.presence + f32(count) * how.frequency);
}

// Whether the mask of the slot allows the token. The mask follows the slot's history: one bit for each token, 1 if it may be drawn.
fn may_be(slot: u32, how: Settings, token: u32) -> bool {
  if ((how.flags & MASKED) == 0u) { return true; }
  return ((history[slot * SLOT_WORDS + RING + (token >> 5u)] >> (token & 31u)) & 1u) != 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  // The next dispatch reads this; no thread of this one does.
  if (group.x == 0u && group.y == 0u && index == 0u) { steps[0] += 1u; }
  let row = group.y;
  let place = places[row];
  let how = settings[place.slot];
  let noisy = (how.flags & NOISY) != 0u && (how.flags & RESTRICTED) == 0u;

  var raws = array<f32, EACH>();
  var mine = none();
  for (var j = 0u; j < EACH; j++) {
    let token = group.x * TILE + j * WORKGROUP + index;
    raws[j] = IMPOSSIBLE;
    if (token < VOCABULARY) { raws[j] = raw_logit(row, token); }
    mine.raw = max(mine.raw, raws[j]);
  }
  var high = 0u;
  var adjusted = array<f32, EACH>();
  for (var j = 0u; j < EACH; j++) {
    let token = group.x * TILE + j * WORKGROUP + index;
    adjusted[j] = raws[j];
    if (raws[j] > IMPOSSIBLE) {
      mine.sum += exp(raws[j] - mine.raw);
      if ((how.flags & PENALIZED) != 0u) {
        let at = COUNTS + row * VOCABULARY + token;
        let count = scratch[at];
        if (count > 0u) {
          adjusted[j] = penalized(how, raws[j], count);
          let bits = bitcast<u32>(adjusted[j]);
          scratch[at] = select(bits, 0x80000000u, bits == 0u);
        }
      }
      high = max(high, key_of(adjusted[j]));
      var score = adjusted[j];
      if (noisy) { score = score / how.temperature + gumbel(how.seed_low, how.seed_high, place.position + 1u, token); }
      if (may_be(place.slot, how, token) && (mine.token == NONE || score > mine.score)) {
        mine.score = score;
        mine.token = token;
      }
    }
  }
  if ((how.flags & RESTRICTED) != 0u) {
    for (var j = 0u; j < EACH; j++) {
      if (raws[j] > IMPOSSIBLE) { mine.mass += exp(adjusted[j] - mine.score); }
    }
  }
  highs[index] = high;
  let best = workgroup_best(mine, index);
  if ((how.flags & RESTRICTED) != 0u && index < GROUPS_EACH) {
    high = 0u;
    for (var i = 0u; i < 8u; i++) { high = max(high, highs[index * 8u + i]); }
    scratch[HIGHS + row * GROUPS + group.x * GROUPS_EACH + index] = high;
  }
  if (index == 0u) {
    let at = BESTS + (row * TILES + group.x) * 5u;
    scratch[at] = bitcast<u32>(best.raw);
    scratch[at + 1u] = bitcast<u32>(best.sum);
    scratch[at + 2u] = bitcast<u32>(best.score);
    scratch[at + 3u] = best.token;
    scratch[at + 4u] = bitcast<u32>(best.mass);
  }
}
