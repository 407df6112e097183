// What the kernels of a draw share; shapes and meanings are in draw.h.
struct Settings {
  temperature: f32, top_k: u32, top_p: f32, log_min_p: f32,
  repetition: f32, presence: f32, frequency: f32, window: u32,
  seed_low: u32, seed_high: u32, flags: u32, unused: u32,
}
struct Place { slot: u32, position: u32, run: u32, unused: u32 }

const PENALIZED = 1u;
const RESTRICTED = 2u;
const NOISY = 4u;
const MASKED = 8u;
const NONE = 0xffffffffu;
const IMPOSSIBLE = -3.4028234e38;

@group(0) @binding(0) var<storage, read> logits: array<u32>;  // Bits: what is no number must not meet float arithmetic.
@group(0) @binding(1) var<storage, read> settings: array<Settings>;
@group(0) @binding(2) var<storage, read_write> scratch: array<SCRATCH>;
@group(0) @binding(3) var<storage, read_write> history: array<u32>;
@group(0) @binding(4) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(5) var<storage, read_write> places: array<Place>;
@group(0) @binding(6) var<storage, read_write> drawn: array<vec2u>;  // token, bits of the logprob
@group(0) @binding(7) var<storage, read_write> steps: array<u32>;

// Where the i-th token before the one that is drawn stands in the history, i from 0.
fn history_at(slot: u32, position: u32, i: u32) -> u32 { return slot * SLOT_WORDS + ((position - i) & (RING - 1u)); }
fn window_of(window: u32, position: u32) -> u32 { return min(min(window, position + 1u), RING - 1u); }
