// Joins a row's tiles, or draws among the best of a restricted row, and prepares the next step.
var<workgroup> origin: vec2u;  // slot, position

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let row = group.x;
  if (index == 0u) { origin = vec2u(places[row].slot, places[row].position); }
  let place = workgroupUniformLoad(&origin);
  let how = settings[place.x];
  var mine = none();
  for (var tile = index; tile < TILES; tile += WORKGROUP) {
    let at = BESTS + (row * TILES + tile) * 5u;
    mine = join(mine, Best(bitcast<f32>(scratch[at]), bitcast<f32>(scratch[at + 1u]), bitcast<f32>(scratch[at + 2u]), scratch[at + 3u],
                           bitcast<f32>(scratch[at + 4u])));
  }
  let all = workgroup_best(mine, index);
  var token = all.token;
  if (RESTRICT) {
    if ((how.flags & RESTRICTED) != 0u && token != NONE) { token = draw_restricted(row, how, place.y + 1u, all.score, all.mass, index); }
  }
  if ((how.flags & PENALIZED) != 0u) {
    let window = window_of(how.window, place.y);
    for (var i = index; i < window; i += WORKGROUP) {
      let past = history[history_at(place.x, place.y, i)];
      if (past < VOCABULARY) { scratch[COUNTS + row * VOCABULARY + past] = 0u; }
    }
  }
  if (index == 0u) {
    var logprob = 0.0;
    if (token == NONE) {
      token = 0u;
    } else {
      logprob = raw_logit(row, token) - all.raw - log_close(all.sum);
    }
    drawn[((steps[0] - 1u) % STEPS) * ROWS + row] = vec2u(token, bitcast<u32>(logprob));
    tokens[row] = token;
    places[row].position = place.y + 1u;
    history[place.x * SLOT_WORDS + ((place.y + 1u) & (RING - 1u))] = token;
  }
}
