import { describe, expect, it } from 'vitest';
import { base58 } from './keptWallet';

describe('base58', () => {
  // Values from the IETF draft of the encoding (draft-msporny-base58), and a Solana system address for leading zeros.
  it.each([
    ['Hello World!', '2NEpo7TZRRrLZSi2U'],
    ['The quick brown fox jumps over the lazy dog.', 'USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z'],
  ])('writes %j as %s', (text, expected) => expect(base58(new TextEncoder().encode(text))).toBe(expected));

  it('writes leading zero bytes as ones', () => {
    expect(base58(new Uint8Array(32))).toBe('1'.repeat(32));
    expect(base58(Uint8Array.of(0, 0, 0x28, 0x7f, 0xb4, 0xcd))).toBe('11233QC4');
  });
});
