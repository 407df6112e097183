// Gumbel noise of (seed, position, token): llm::gumbel() of llm/sampler.cpp, step by step.
fn scramble(value: u32) -> u32 {
  let state = value * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

// The natural logarithm of a normal number above 0, within two units in the last place (Cephes, logf); WGSL's own may be off by
// 2^-21 absolutely near 1, which is where the noise comes from.
fn log_close(x: f32) -> f32 {
  let shifted = bitcast<u32>(x) + (0x3f800000u - 0x3f3504f3u);
  let exponent = f32(i32(shifted >> 23u) - 127);
  let f = bitcast<f32>((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0;  // From sqrt(1/2) - 1 to sqrt(2) - 1.
  let square = f * f;
  var y = 7.0376836292e-2 * f - 1.1514610310e-1;
  y = y * f + 1.1676998740e-1;
  y = y * f - 1.2420140846e-1;
  y = y * f + 1.4249322787e-1;
  y = y * f - 1.6668057665e-1;
  y = y * f + 2.0000714765e-1;
  y = y * f - 2.4999993993e-1;
  y = y * f + 3.3333331174e-1;
  y = y * f * square - 2.12194440e-4 * exponent;
  return f + (y - 0.5 * square) + 0.693359375 * exponent;
}

fn gumbel(seed_low: u32, seed_high: u32, position: u32, token: u32) -> f32 {
  let hash = scramble(scramble(scramble(scramble(seed_low) ^ seed_high) ^ position) ^ token);
  let v = (f32(hash) + 0.5) * 0x1p-32f;
  var exponential = v * (1.0 + v * (0.5 + v * (1.0 / 3.0)));
  if (v >= 0.01) { exponential = -log_close(max(1.0 - v, 0x1p-25f)); }
  return -log_close(exponential);
}
