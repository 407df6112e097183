import { describe, expect, it } from 'vitest';
import { newWallet, parseWallet } from './walletFile';

describe('a new wallet', () => {
  it('is a seed and the public key of this seed', async () => {
    const numbers = await newWallet();
    expect(parseWallet(JSON.stringify(numbers))).toEqual(numbers);

    // The PKCS #8 header of an Ed25519 seed (RFC 8410).
    const header = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    const key = await crypto.subtle.importKey('pkcs8', Uint8Array.from([...header, ...numbers.slice(0, 32)]), 'Ed25519', false, ['sign']);
    const message = Uint8Array.of(1, 2, 3);
    const signature = await crypto.subtle.sign('Ed25519', key, message);
    const known = await crypto.subtle.importKey('raw', Uint8Array.from(numbers.slice(32)), 'Ed25519', false, ['verify']);
    expect(await crypto.subtle.verify('Ed25519', known, signature, message)).toBe(true);
  });

  it('differs from the one before', async () => {
    expect(await newWallet()).not.toEqual(await newWallet());
  });
});

describe('a wallet file', () => {
  it.each(['', '{}', '[1,2]', JSON.stringify(Array(64).fill(256)), JSON.stringify(Array(64).fill('1')), `[${'0,'.repeat(3000)}0]`])('is not %j', (text) => {
    expect(parseWallet(text)).toMatch(/^This is not a wallet file/);
  });
});
