// Checks a device's receipt in the page, as chain/program/receipts.h does: the root of the claims,
// the signature, and the record of the device on the chain.
import { fromBase58, little, same, sha256, text, type Bytes } from './bytes';

/** A receipt as a file: the statement that the device signed, with the claims from which its root is computed. */
export type Receipt = {
  readonly owner: string;
  readonly device: string;
  readonly session: string;  // The coordinator's nonce, in hexadecimal digits.
  readonly worker: string;  // The device's own nonce.
  readonly root: string;
  readonly claims: readonly Claim[];
  readonly signature: string;
};
export type Claim = { readonly job: string; readonly task: number; readonly attempt: number; readonly result: string };
/** The context that a receipt's signature covers: the chain, the program on it, and the coordinator. */
export type SigningPlace = { readonly genesis: Bytes; readonly program: Bytes; readonly coordinator: Bytes };
/** The chain's record of a device. `endsAt` is 0 while the device signs for its owner. */
export type Delegation = { readonly endsAt: number };
export type ReceiptCheck = { readonly name: string; readonly ok: boolean; readonly detail: string };
/** A receipt that is recorded on the chain. */
export type Recorded = { readonly digest: string; readonly device: string; readonly at: number; readonly check: ReceiptCheck };

export const receiptBytesMax = 256 * 1024;
const claimsMost = 256;  // Eight levels of the tree; more cannot be evidence on the chain.

function fromHex(value: unknown, size: number, name: string): Bytes {
  if (typeof value !== 'string' || value.length !== 2 * size || !/^[0-9a-f]*$/.test(value)) throw new Error(`The receipt's ${name} is not ${2 * size} hexadecimal digits.`);
  return Uint8Array.from({ length: size }, (_, i) => parseInt(value.slice(2 * i, 2 * i + 2), 16));
}
const wholeNumber = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff;

/** Throws an Error of one sentence if the text is not a receipt. */
export function parseReceipt(written: string): Receipt {
  if (written.length > receiptBytesMax) throw new Error('This file is too long for a receipt.');
  let read: unknown;
  try {
    read = JSON.parse(written);
  } catch {
    throw new Error('This file is not JSON.');
  }
  const receipt = read as Receipt;
  if (typeof read !== 'object' || read === null || !Array.isArray(receipt.claims)) throw new Error('This file is no receipt: it has no list of claims.');
  if (receipt.claims.length === 0 || receipt.claims.length > claimsMost) throw new Error(`A receipt has 1 to ${claimsMost} claims; this one has ${receipt.claims.length}.`);
  for (const name of ['owner', 'device'] as const) fromBase58(String(receipt[name]));
  fromBase58(String(receipt.signature), 64);
  for (const name of ['session', 'worker', 'root'] as const) fromHex(receipt[name], 32, name);
  for (const claim of receipt.claims) {
    fromHex(claim?.job, 16, 'job');
    fromHex(claim.result, 32, 'result');
    if (!wholeNumber(claim.task) || !wholeNumber(claim.attempt)) throw new Error('A claim names its task and its attempt by whole numbers.');
  }
  return receipt;
}

const one = new Uint8Array([1]);

/** Returns the root of the tree over claims; a last node without a neighbour moves up unchanged. */
export async function rootOfClaims(claims: readonly Claim[]): Promise<Bytes> {
  let level = await Promise.all(claims.map(async ({ job, task, attempt, result }) =>
    sha256(new Uint8Array(1), await sha256(text('weft-claim-2'), fromHex(job, 16, 'job'), little(task, 4), little(attempt, 4), fromHex(result, 32, 'result')))));
  while (level.length > 1) {
    const above: Promise<Bytes>[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const [left, right] = [level[i], level[i + 1]];
      if (left !== undefined) above.push(right === undefined ? Promise.resolve(left) : sha256(one, left, right));
    }
    level = await Promise.all(above);
  }
  return level[0] ?? sha256();
}

export const receiptDigest = (place: SigningPlace, session: Bytes, worker: Bytes, root: Bytes): Promise<Bytes> =>
  sha256(text('weft-receipt-2'), place.genesis, place.program, place.coordinator, session, worker, root);

export const digestOf = (receipt: Receipt, place: SigningPlace): Promise<Bytes> =>
  receiptDigest(place, fromHex(receipt.session, 32, 'session'), fromHex(receipt.worker, 32, 'worker'), fromHex(receipt.root, 32, 'root'));

/** Checks whether the owner's stake covers the device. */
export function checkDevice(device: string, delegation: Delegation | null, now: number): ReceiptCheck {
  const ok = delegation !== null && (delegation.endsAt === 0 || now < delegation.endsAt);
  const refusal = delegation === null ? 'The chain does not name this device for this owner.' : 'The owner has ended this device, and its stake no longer answers for it.';
  return { name: 'Device', ok, detail: ok ? `The chain names ${device} as a device of its owner.` : refusal };
}

/** Returns every check with its result in words. `now` is the chain's time. */
export async function checkReceipt(receipt: Receipt, place: SigningPlace, delegation: Delegation | null, now: number): Promise<ReceiptCheck[]> {
  const root = fromHex(receipt.root, 32, 'root');
  const made = same(await rootOfClaims(receipt.claims), root);
  const digest = await digestOf(receipt, place);
  const key = await crypto.subtle.importKey('raw', fromBase58(receipt.device), 'Ed25519', false, ['verify']);
  const signed = await crypto.subtle.verify('Ed25519', key, fromBase58(receipt.signature, 64), digest);
  return [
    { name: 'Claims', ok: made, detail: made ? `The receipt’s ${receipt.claims.length} claims give the signed root.` : 'The receipt’s claims do not give the signed root.' },
    { name: 'Signature', ok: signed, detail: signed ? 'The device has signed the receipt for this network and its coordinator.' : 'The device has not signed the receipt for this network and its coordinator.' },
    checkDevice(receipt.device, delegation, now),
  ];
}
