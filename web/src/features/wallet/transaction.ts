// Makes a Solana transaction in the legacy format (src/common/solana/transaction.h), for a wallet to sign.
import { joined, type Bytes } from './bytes';
import { base58 } from '../../engine/keptWallet';

export type Use = { readonly key: Bytes; readonly signer: boolean; readonly writable: boolean };
export type Instruction = { readonly program: Bytes; readonly accounts: readonly Use[]; readonly data: Bytes };

export const transactionBytesMax = 1232;

function compact(value: number): Bytes {
  const out: number[] = [];
  let left = value;
  for (; left >= 0x80; left >>= 7) out.push(0x80 | (left & 0x7f));
  out.push(left);
  return Uint8Array.from(out);
}

/** Returns a transaction with a zero signature, which the wallet replaces. Only the payer signs. */
export function unsigned(payer: Bytes, instructions: readonly Instruction[], blockhash: Bytes): Bytes {
  const uses = new Map<string, { key: Bytes; signer: boolean; writable: boolean }>();
  const add = ({ key, signer, writable }: Use) => {
    const id = base58(key);
    const known = uses.get(id);
    if (!known) uses.set(id, { key, signer, writable });
    else {
      known.signer ||= signer;
      known.writable ||= writable;
    }
  };
  add({ key: payer, signer: true, writable: true });
  for (const { accounts } of instructions) accounts.forEach(add);
  for (const { program } of instructions) add({ key: program, signer: false, writable: false });
  const rank = ({ signer, writable }: Use) => (signer ? 0 : 2) + (writable ? 0 : 1);
  const [first, ...others] = [...uses.values()];
  if (first === undefined) throw new Error('A transaction has a payer.');
  const keys = [first, ...others.sort((a, b) => rank(a) - rank(b))];
  if (keys.filter(({ signer }) => signer).length !== 1) throw new Error('Only the wallet signs what the page makes.');
  const place = new Map(keys.map(({ key }, i) => [base58(key), i]));
  const index = (key: Bytes) => place.get(base58(key)) ?? 0;
  const count = (wanted: number) => keys.filter((use) => rank(use) === wanted).length;
  const message = joined(
    Uint8Array.from([count(0) + count(1), count(1), count(3)]),
    compact(keys.length),
    ...keys.map(({ key }) => key),
    blockhash,
    compact(instructions.length),
    ...instructions.map(({ program, accounts, data }) =>
      joined(Uint8Array.from([index(program)]), compact(accounts.length), Uint8Array.from(accounts.map(({ key }) => index(key))), compact(data.length), data),
    ),
  );
  return joined(compact(1), new Uint8Array(64), message);
}

export const messageOf = (transaction: Uint8Array): Uint8Array => transaction.subarray(1 + 64 * (transaction[0] ?? 0));
export const signatureOf = (transaction: Uint8Array): string => base58(transaction.slice(1, 65));
