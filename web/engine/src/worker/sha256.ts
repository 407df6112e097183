// SHA-256 of bytes that come in pieces (FIPS 180-4); the browser's own wants them all at once.

const k = Uint32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
  0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
  0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
const blockBytes = 64;

export class Sha256 {
  readonly #state = Uint32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);
  readonly #words = new Uint32Array(64);
  readonly #held = new Uint8Array(blockBytes);
  #heldBytes = 0;
  #bytes = 0;

  update(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    let at = 0;
    if (this.#heldBytes > 0) {
      at = Math.min(blockBytes - this.#heldBytes, bytes.length);
      this.#held.set(bytes.subarray(0, at), this.#heldBytes);
      this.#heldBytes += at;
      if (this.#heldBytes < blockBytes) return;
      this.#block(this.#held, 0);
      this.#heldBytes = 0;
    }
    for (; at + blockBytes <= bytes.length; at += blockBytes) this.#block(bytes, at);
    this.#held.set(bytes.subarray(at));
    this.#heldBytes = bytes.length - at;
  }

  /** In hexadecimal. Nothing may follow. */
  finish(): string {
    const bytes = this.#bytes;
    // 0x80 and zeros up to eight bytes before the end of a block, then the length in bits.
    const padding = 1 + ((2 * blockBytes - 9 - (bytes % blockBytes)) % blockBytes);
    const end = new Uint8Array(padding + 8);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(padding, Math.floor(bytes / 2 ** 29));
    view.setUint32(padding + 4, (bytes * 8) >>> 0);
    this.update(end);
    return [...this.#state].map((word) => word.toString(16).padStart(8, '0')).join('');
  }

  #block(bytes: Uint8Array, at: number): void {
    const w = this.#words;
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, blockBytes);
    for (let i = 0; i < 16; i += 1) w[i] = view.getUint32(4 * i);
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15] as number;
      const y = w[i - 2] as number;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] as number) + s0 + (w[i - 7] as number) + s1;
    }
    let [a, b, c, d, e, f, g, h] = this.#state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (k[i] as number) + (w[i] as number)) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    const next = [a, b, c, d, e, f, g, h];
    for (let i = 0; i < 8; i += 1) this.#state[i] = (this.#state[i] as number) + (next[i] as number);
  }
}
