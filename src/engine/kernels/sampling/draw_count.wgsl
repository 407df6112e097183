// How often each token occurs in its row's window.
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let place = places[group.x];
  let how = settings[place.slot];
  if ((how.flags & PENALIZED) == 0u) { return; }
  let window = window_of(how.window, place.position);
  for (var i = index; i < window; i += WORKGROUP) {
    let token = history[history_at(place.slot, place.position, i)];
    if (token < VOCABULARY) { atomicAdd(&scratch[COUNTS + group.x * VOCABULARY + token], 1u); }
  }
}
