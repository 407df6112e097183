// Program-derived addresses of Solana, which have no private key (src/common/solana/address.h): the hash of seeds with the largest bump
// whose hash is not a point of edwards25519.
import { fromBase58, joined, sha256, text, type Bytes } from './bytes';

export const systemProgram = new Uint8Array(32);
export const tokenProgram = fromBase58('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const associatedProgram = fromBase58('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
export const instructionsSysvar = fromBase58('Sysvar1nstructions1111111111111111111111111');
export const clockSysvar = fromBase58('SysvarC1ock11111111111111111111111111111111');

const p = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

function power(base: bigint, exponent: bigint): bigint {
  let out = 1n;
  for (let factor = base % p, left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) out = (out * factor) % p;
    factor = (factor * factor) % p;
  }
  return out;
}

export function isOnCurve(key: Uint8Array): boolean {
  let y = 0n;
  for (let i = 31; i >= 0; i -= 1) y = (y << 8n) | BigInt(i === 31 ? (key[i] ?? 0) & 0x7f : (key[i] ?? 0));
  const square = ((y % p) * (y % p)) % p;
  const test = (((square - 1n + p) % p) * ((d * square + 1n) % p)) % p;
  return test === 0n || power(test, (p - 1n) / 2n) === 1n;
}

export type ProgramAddress = { readonly key: Bytes; readonly bump: number };

export async function programAddress(program: Bytes, ...seeds: readonly Uint8Array[]): Promise<ProgramAddress> {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const key = await sha256(...seeds, new Uint8Array([bump]), program, text('ProgramDerivedAddress'));
    if (!isOnCurve(key)) return { key, bump };
  }
  throw new Error('No valid address exists for these seeds.');
}

/** Returns the address of a wallet's token account for a mint. */
export async function tokensOf(wallet: Bytes, mint: Bytes): Promise<Bytes> {
  return (await programAddress(associatedProgram, wallet, tokenProgram, mint)).key;
}

/** An instruction that makes the wallet's account for a mint if there is none. */
export function makeTokens(payer: Bytes, wallet: Bytes, account: Bytes, mint: Bytes) {
  return {
    program: associatedProgram,
    accounts: [
      { key: payer, signer: true, writable: true },
      { key: account, signer: false, writable: true },
      ...[wallet, mint, systemProgram, tokenProgram].map((key) => ({ key, signer: false, writable: false })),
    ],
    data: joined(new Uint8Array([1])),
  };
}
