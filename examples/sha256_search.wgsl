// Looks for a text whose SHA-256 is small: "weft" and eight hexadecimal digits, over a range of nonces. Every workgroup tries 4096
// nonces and writes the smallest first word of a digest and its nonce; and a mark of the work, in which each digest that it
// computed counts. A search that reports only what it finds says nothing nearly everywhere, and then work that was not done
// looks like work that found nothing. The mark of a workgroup is known only to a worker that has computed all of its digests.

struct Weft { origin: vec3u, extent: vec3u }
@group(1) @binding(0) var<uniform> weft: Weft;

@group(0) @binding(0) var<uniform> search: vec2u;  // the text's first four bytes, big-endian; the first nonce
@group(0) @binding(1) var<storage, read_write> best: array<vec2u>;  // one a workgroup: first word of the digest, nonce
@group(0) @binding(2) var<storage, read_write> work: array<vec2u>;  // one a workgroup: the mark

const threads = 64u;
const nonces_per_thread = 64u;

const k = array<u32, 64>(
  0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
  0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
  0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
  0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
  0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
  0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
  0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
  0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u);

fn rotate(x: u32, n: u32) -> u32 { return (x >> n) | (x << (32u - n)); }

// Four hexadecimal digits of the low 16 bits as ASCII, big-endian.
fn hex4(value: u32) -> u32 {
  var text = 0u;
  for (var i = 0u; i < 4u; i++) {
    let digit = (value >> (12u - 4u * i)) & 15u;
    text = (text << 8u) | (digit + select(48u, 87u, digit > 9u));
  }
  return text;
}

// First word of the SHA-256 of the twelve bytes of this nonce.
fn first_word(nonce: u32) -> u32 {
  var w = array<u32, 16>(search.x, hex4(nonce >> 16u), hex4(nonce & 0xffffu), 0x80000000u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 96u);
  var a = 0x6a09e667u;
  var b = 0xbb67ae85u;
  var c = 0x3c6ef372u;
  var d = 0xa54ff53au;
  var e = 0x510e527fu;
  var f = 0x9b05688cu;
  var g = 0x1f83d9abu;
  var h = 0x5be0cd19u;
  for (var i = 0u; i < 64u; i++) {
    if (i >= 16u) {
      let w15 = w[(i + 1u) % 16u];
      let w2 = w[(i + 14u) % 16u];
      let s0 = rotate(w15, 7u) ^ rotate(w15, 18u) ^ (w15 >> 3u);
      let s1 = rotate(w2, 17u) ^ rotate(w2, 19u) ^ (w2 >> 10u);
      w[i % 16u] += s0 + w[(i + 9u) % 16u] + s1;
    }
    let sum1 = rotate(e, 6u) ^ rotate(e, 11u) ^ rotate(e, 25u);
    let t1 = h + sum1 + ((e & f) ^ (~e & g)) + k[i] + w[i % 16u];
    let sum0 = rotate(a, 2u) ^ rotate(a, 13u) ^ rotate(a, 22u);
    let t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  return a + 0x6a09e667u;
}

// Marks one more word after those that `mark` has. Each step can be undone if the word is known, so that no word is lost in it.
fn marked(mark: vec2u, word: u32) -> vec2u {
  let x = (mark.x ^ word) * 0x9e3779b1u;
  return vec2u(rotate(x, 15u) + mark.y, x * 0x85ebca6bu);
}

var<workgroup> found: array<vec2u, threads>;
var<workgroup> marks: array<vec2u, threads>;

@compute @workgroup_size(threads)
fn main(@builtin(global_invocation_id) local: vec3u, @builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3u) {
  let first = search.y + (local.x + weft.origin.x) * nonces_per_thread;
  var smallest = vec2u(0xffffffffu, first);
  var mark = vec2u(first, 0u);
  for (var i = 0u; i < nonces_per_thread; i++) {
    let word = first_word(first + i);
    mark = marked(mark, word);
    if (word < smallest.x) { smallest = vec2u(word, first + i); }
  }
  found[lane] = smallest;
  marks[lane] = mark;
  workgroupBarrier();
  if (lane == 0u) {
    // In the order of nonces, so that equal words give the lowest one.
    for (var i = 1u; i < threads; i++) {
      if (found[i].x < smallest.x) { smallest = found[i]; }
      mark = marked(marked(mark, marks[i].x), marks[i].y);
    }
    best[group.x] = smallest;
    work[group.x] = mark;
  }
}
