// Converts bytes as Solana writes them: base58 keys, little-endian numbers, SHA-256.
import { base58 } from '../../engine/keptWallet';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the bytes of a key (32) or a signature (64). Throws for other texts. */
export function fromBase58(text: string, size = 32): Bytes {
  let value = 0n;
  for (const letter of text.slice(0, 100)) {
    const digit = alphabet.indexOf(letter);
    if (digit < 0) throw new Error(`"${text.slice(0, 100)}" is not a key in base58.`);
    value = value * 58n + BigInt(digit);
  }
  const out = new Uint8Array(size);
  for (let i = size - 1; i >= 0; i -= 1, value >>= 8n) out[i] = Number(value & 255n);
  // Each key has only one valid text, in which leading zero bytes are written too.
  if (value > 0n || base58(out) !== text) throw new Error(`"${text.slice(0, 100)}" is not a key in base58.`);
  return out;
}

export const text = (value: string): Bytes => new TextEncoder().encode(value) as Bytes;

export function joined(...parts: readonly Uint8Array[]): Bytes {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Returns a number as `width` bytes, lowest byte first. */
export function little(value: bigint | number, width: number): Bytes {
  const out = new Uint8Array(width);
  let left = BigInt(value);
  for (let i = 0; i < width; i += 1, left >>= 8n) out[i] = Number(left & 255n);
  return out;
}

export function numberAt(bytes: Uint8Array, at: number, width: number): bigint {
  let out = 0n;
  for (let i = width - 1; i >= 0; i -= 1) out = (out << 8n) | BigInt(bytes[at + i] ?? 0);
  return out;
}

export async function sha256(...parts: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined(...parts)));
}

export const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

export const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export function toBase64(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += String.fromCharCode(byte);
  return btoa(out);
}
export const fromBase64 = (value: string): Bytes => Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0));
