// Draws among the tokens that top_k, top_p and min_p leave. All three keep a beginning of the candidates in the order of
// logits (equals: of tokens), so what is left is described by a cut: a key and, of its equals, the last token that stays.
// A cut is found by radix selection over the keys, 8 bits a turn, where a bin adds up counts (top_k) or masses (top_p).
// Masses are exp(logit - top) as integers of 64 bits (low, high) in units of 2^-44: their sums do not depend on an order.

// Largest first: which numbers a selection is about.
const OF_GROUPS = 0u;  // The largest keys of groups of tokens.
const OF_LIST = 1u;    // The candidates inside the cut.
const OF_EQUALS = 2u;  // Tokens of candidates at the cut's key, inverted, so that the first token is the largest.

struct Found {
  key: u32,
  equals: u32,   // Numbers with this key.
  rest: vec2u,   // What the goal wants of them.
  reached: u32,  // 0: everything together is less than the goal.
}

var<workgroup> bins: array<atomic<u32>, 768>;  // For 256 bins: counts, low words, high words.
var<workgroup> parts: array<vec3u, 16>;        // The same of 16 bins.
var<workgroup> found: Found;
var<workgroup> listed: atomic<u32>;
var<workgroup> listed_count: u32;

fn add64(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn subtract64(a: vec2u, b: vec2u) -> vec2u { return vec2u(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x)); }
fn less64(a: vec2u, b: vec2u) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }
// `factor` is below 2^31 and the product below 2^64.
fn times64(a: vec2u, factor: u32) -> vec2u {
  let low = (a.x & 0xffffu) * (factor & 0xffffu);
  let middle = (a.x >> 16u) * (factor & 0xffffu);
  let other = (a.x & 0xffffu) * (factor >> 16u);
  let sum = add64(add64(vec2u(low, 0u), vec2u(middle << 16u, middle >> 16u)), vec2u(other << 16u, other >> 16u));
  return vec2u(sum.x, sum.y + (a.x >> 16u) * (factor >> 16u) + a.y * factor);
}
fn float64(a: vec2u) -> f32 { return f32(a.y) * 4294967296.0 + f32(a.x); }
fn fixed64(value: f32) -> vec2u {  // At least 0, below 2^64.
  let high = floor(value * 0x1p-32f);
  return vec2u(u32(value - high * 4294967296.0), u32(high));
}
fn mass_of(key: u32, top: f32) -> vec2u { return fixed64(min(exp(logit_of(key) - top), 1.0) * 0x1p44f); }

fn inside(candidate: vec2u, cut: vec2u) -> bool { return candidate.x > cut.x || (candidate.x == cut.x && candidate.y <= cut.y); }

fn candidate_at(row: u32, i: u32) -> vec2u {
  let at = LIST + (row * VOCABULARY + i) * 2u;
  return vec2u(scratch[at], scratch[at + 1u]);
}

// The largest key at which numbers from the largest on add up to the goal: to `goal`, or to `fraction` of all where that is not
// negative. All threads call it with the same values.
fn select_key(kind: u32, row: u32, count: u32, cut: vec2u, by_mass: bool, top: f32, goal: vec2u, fraction: f32, index: u32) -> Found {
  var key = 0u;
  var known = 0u;  // Bits of the key that are.
  var left = goal;
  var result = Found(0u, 0u, vec2u(), 0u);
  for (var turn = 0u; turn < 4u; turn++) {
    let shift = 24u - 8u * turn;
    for (var i = index; i < 768u; i += WORKGROUP) { atomicStore(&bins[i], 0u); }
    workgroupBarrier();
    for (var i = index; i < count; i += WORKGROUP) {
      var number = 0u;
      var takes_part = false;
      if (kind == OF_GROUPS) {
        number = scratch[HIGHS + row * GROUPS + i];
        takes_part = number > 0u;
      } else {
        let candidate = candidate_at(row, i);
        takes_part = inside(candidate, cut);
        number = candidate.x;
        if (kind == OF_EQUALS) {
          takes_part = takes_part && candidate.x == cut.x;
          number = ~candidate.y;
        }
      }
      if (takes_part && (number & known) == key) {
        let bin = (number >> shift) & 255u;
        var mass = vec2u(1u, 0u);
        if (by_mass) { mass = mass_of(number, top); }
        atomicAdd(&bins[bin], 1u);
        let before = atomicAdd(&bins[256u + bin], mass.x);
        let high = mass.y + select(0u, 1u, before + mass.x < before);
        if (high > 0u) { atomicAdd(&bins[512u + bin], high); }
      }
    }
    workgroupBarrier();
    if (index < 16u) {
      var part_count = 0u;
      var part = vec2u();
      for (var i = index * 16u; i < index * 16u + 16u; i++) {
        part_count += atomicLoad(&bins[i]);
        part = add64(part, vec2u(atomicLoad(&bins[256u + i]), atomicLoad(&bins[512u + i])));
      }
      parts[index] = vec3u(part_count, part);
    }
    workgroupBarrier();
    if (index == 0u) {
      if (turn == 0u && fraction >= 0.0) {
        var total = vec2u();
        for (var i = 0u; i < 16u; i++) { total = add64(total, parts[i].yz); }
        left = fixed64(float64(total) * fraction);
        if (less64(total, left)) { left = total; }
      }
      var part = 15u;
      var reached = false;
      for (var i = 0u; i < 16u; i++) {
        part = 15u - i;
        reached = parts[part].x > 0u && !less64(parts[part].yz, left);
        if (reached) { break; }
        left = subtract64(left, parts[part].yz);
      }
      var bin = part * 16u + 15u;
      if (reached) {
        for (var i = 0u; i < 16u; i++) {
          bin = part * 16u + 15u - i;
          let mass = vec2u(atomicLoad(&bins[256u + bin]), atomicLoad(&bins[512u + bin]));
          if (atomicLoad(&bins[bin]) > 0u && !less64(mass, left)) { break; }
          left = subtract64(left, mass);
        }
      }
      found = Found(key | (bin << shift), atomicLoad(&bins[bin]), left, select(0u, 1u, reached));
    }
    result = workgroupUniformLoad(&found);
    if (result.reached == 0u) { break; }
    key = result.key;
    left = result.rest;
    known |= 255u << shift;
  }
  return result;
}

// The cut that keeps what a selection found, `keep` of the equals.
fn cut_at(row: u32, count: u32, cut: vec2u, selected: Found, keep: u32, index: u32) -> vec2u {
  var at = vec2u(selected.key, select(NONE, cut.y, selected.key == cut.x));
  if (keep < selected.equals) {
    at.y = ~select_key(OF_EQUALS, row, count, at, false, 0.0, vec2u(keep, 0u), -1.0, index).key;
  }
  return at;
}

// A key that nothing inside is below, so that the list is short. What top_p measures with is known without a list if there
// is no top_k; if there is, the list has all that top_k keeps.
fn least_key(row: u32, how: Settings, top: f32, mass: f32, index: u32) -> u32 {
  var least = 1u;
  if (how.top_k > 0u && how.top_k < GROUPS) {
    // As many tokens reach a key as there are groups whose largest reaches it, or more.
    let selected = select_key(OF_GROUPS, row, GROUPS, vec2u(), false, top, vec2u(how.top_k, 0u), -1.0, index);
    if (selected.reached != 0u) { least = selected.key; }
  }
  if (how.top_k == 0u && how.top_p < 1.0) {
    // The same with masses; rounded up, since this is a bound.
    let goal = fixed64(how.top_p * mass * 1.00001 * 0x1p44f);
    let selected = select_key(OF_GROUPS, row, GROUPS, vec2u(), true, top, goal, -1.0, index);
    if (selected.reached != 0u) { least = selected.key; }
    // Tokens below this are together less than what top_p leaves out.
    least = max(least, key_of(top + log_close((1.0 - how.top_p) * mass / f32(VOCABULARY)) - 0.01));
  }
  if (how.top_k == 0u || how.top_p >= 1.0) { least = max(least, least_by_min_p(how, top)); }
  return least;
}
fn least_by_min_p(how: Settings, top: f32) -> u32 { return select(1u, key_of(top + how.log_min_p), how.log_min_p > IMPOSSIBLE); }

// Makes the list of candidates with at least this key and says how many there are.
fn gather(row: u32, how: Settings, least: u32, index: u32) -> u32 {
  if (index == 0u) { atomicStore(&listed, 0u); }
  workgroupBarrier();
  for (var i = index; i < GROUPS; i += WORKGROUP) {
    if (scratch[HIGHS + row * GROUPS + i] >= least) { scratch[HOT + row * GROUPS + atomicAdd(&listed, 1u)] = i; }
  }
  workgroupBarrier();
  if (index == 0u) { listed_count = atomicLoad(&listed); }
  let hot = workgroupUniformLoad(&listed_count);
  storageBarrier();
  if (index == 0u) { atomicStore(&listed, 0u); }
  workgroupBarrier();
  for (var i = index; i < hot * GROUP; i += WORKGROUP) {
    // A group are the tokens of 8 neighbouring threads of draw_tiles, TILE_STRIDE apart.
    let group = scratch[HOT + row * GROUPS + i / GROUP];
    let member = i % GROUP;
    let token = group / GROUPS_EACH * TILE + group % GROUPS_EACH * 8u + member % 8u + member / 8u * TILE_STRIDE;
    if (token < VOCABULARY) {
      var logit = raw_logit(row, token);
      if (logit > IMPOSSIBLE) {
        if ((how.flags & PENALIZED) != 0u) {
          let bits = scratch[COUNTS + row * VOCABULARY + token];
          if (bits != 0u) { logit = bitcast<f32>(bits); }
        }
        let key = key_of(logit);
        if (key >= least) {
          let at = LIST + (row * VOCABULARY + atomicAdd(&listed, 1u)) * 2u;
          scratch[at] = key;
          scratch[at + 1u] = token;
        }
      }
    }
  }
  workgroupBarrier();
  if (index == 0u) { listed_count = atomicLoad(&listed); }
  let count = workgroupUniformLoad(&listed_count);
  storageBarrier();
  return count;
}

fn draw_restricted(row: u32, how: Settings, position: u32, top: f32, mass: f32, index: u32) -> u32 {
  let count = gather(row, how, least_key(row, how, top, mass, index), index);
  var cut = vec2u(0u, NONE);
  if (how.top_k > 0u && how.top_k < count) {
    let selected = select_key(OF_LIST, row, count, cut, false, top, vec2u(how.top_k, 0u), -1.0, index);
    cut = cut_at(row, count, cut, selected, selected.rest.x, index);
  }
  if (how.top_p < 1.0) {
    let goal = fixed64(how.top_p * mass * 0x1p44f);
    let selected = select_key(OF_LIST, row, count, cut, true, top, goal, select(-1.0, how.top_p, how.top_k > 0u), index);
    if (selected.reached != 0u) {
      // The fewest equals that reach the goal; the quotient may be off by one.
      let each = mass_of(selected.key, top);
      var keep = 1u;
      if ((each.x | each.y) > 0u) { keep = clamp(u32(float64(selected.rest) / float64(each)), 1u, selected.equals); }
      if (keep > 1u && !less64(times64(each, keep - 1u), selected.rest)) { keep -= 1u; }
      if (keep < selected.equals && less64(times64(each, keep), selected.rest)) { keep += 1u; }
      cut = cut_at(row, count, cut, selected, keep, index);
    }
  }
  let least = least_by_min_p(how, top);
  if (least > cut.x) { cut = vec2u(least, NONE); }

  var mine = none();
  for (var i = index; i < count; i += WORKGROUP) {
    let candidate = candidate_at(row, i);
    if (inside(candidate, cut)) {
      let score = logit_of(candidate.x) / how.temperature + gumbel(how.seed_low, how.seed_high, position, candidate.y);
      mine = join(mine, Best(IMPOSSIBLE, 0.0, score, candidate.y, 0.0));
    }
  }
  return workgroup_best(mine, index).token;
}
