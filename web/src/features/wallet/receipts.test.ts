// Tests the page's check of receipts: the check uses the bytes of src/common/proof/claim_tree.h, src/common/solana/digests.h and
// chain/program/receipts.h, and refuses a receipt if any part of the receipt was changed.
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { base58 } from '../../engine/keptWallet';
import { checkDevice, checkReceipt, digestOf, parseReceipt, receiptDigest, rootOfClaims, type Receipt } from './receipts';

const filled = (byte: number, size = 32) => new Uint8Array(size).fill(byte);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const claims = [0, 1, 2].map((i) => ({ job: hex(filled(0x30 + i, 16)), task: 7 + i, attempt: 2, result: hex(filled(0x40 + i)) }));
const place = { genesis: filled(1), program: filled(2), coordinator: filled(3) };

async function receiptOf(change: Partial<Receipt> = {}): Promise<Receipt> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const root = await rootOfClaims(claims);
  const digest = await receiptDigest(place, filled(4), filled(5), root);
  const device = base58(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)));
  return { owner: base58(filled(6)), device, session: hex(filled(4)), worker: hex(filled(5)), root: hex(root), claims, signature: base58(new Uint8Array(sign(null, digest, privateKey))), ...change };
}
const refused = async (receipt: Receipt, more: Partial<typeof place> = {}, endsAt: number | null = 0) =>
  (await checkReceipt(receipt, { ...place, ...more }, endsAt === null ? null : { endsAt }, 1_000)).filter(({ ok }) => !ok).map(({ name }) => name);

describe('a receipt', () => {
  it('has the bytes that the worker signs and the program reads', async () => {
    const root = await rootOfClaims(claims);
    expect(hex(root)).toBe('52d91d1682785956df0e99d07bb4785f9a0a2dee8c3572ee267c4c0f6e642a31');
    expect(hex(await receiptDigest(place, filled(4), filled(5), root))).toBe('7bd85af71eb59d5b7467022f400cbd6020f2c1da00410fac2e282d5abf366aa2');
  });
  it('holds if nothing was changed', async () => {
    expect(await refused(await receiptOf())).toEqual([]);
  });
  it('is refused where a claim, a nonce, the root or the place is another', async () => {
    const changed = claims.map((claim, i) => (i === 1 ? { ...claim, attempt: 3 } : claim));
    expect(await refused(await receiptOf({ claims: changed }))).toEqual(['Claims']);
    expect(await refused(await receiptOf({ claims: changed, root: hex(await rootOfClaims(changed)) }))).toEqual(['Signature']);
    expect(await refused(await receiptOf({ session: hex(filled(9)) }))).toEqual(['Signature']);
    expect(await refused(await receiptOf({ worker: hex(filled(9)) }))).toEqual(['Signature']);
    for (const name of ['genesis', 'program', 'coordinator'] as const) expect(await refused(await receiptOf(), { [name]: filled(9) })).toEqual(['Signature']);
  });
  it('is refused without a device that the chain names for its owner', async () => {
    expect(await refused(await receiptOf(), {}, null)).toEqual(['Device']);
    expect(await refused(await receiptOf(), {}, 1_000)).toEqual(['Device']);
    expect(await refused(await receiptOf(), {}, 1_001)).toEqual([]);
  });
  it('has one digest, under which the chain records it', async () => {
    const receipt = await receiptOf();
    expect(hex(await digestOf(receipt, place))).toBe(hex(await receiptDigest(place, filled(4), filled(5), await rootOfClaims(claims))));
    expect(hex(await digestOf(receipt, { ...place, program: filled(9) }))).not.toBe(hex(await digestOf(receipt, place)));
    expect(checkDevice('D', { endsAt: 10 }, 9)).toEqual({ name: 'Device', ok: true, detail: 'The chain names D as a device of its owner.' });
    expect(checkDevice('D', { endsAt: 10 }, 10).ok).toBe(false);
  });
  it('is read from a file, and other files are named', async () => {
    const receipt = await receiptOf();
    expect(parseReceipt(JSON.stringify(receipt))).toEqual(receipt);
    const say = (value: unknown) => () => parseReceipt(typeof value === 'string' ? value : JSON.stringify(value));
    expect(say('{')).toThrow('not JSON');
    expect(say('null')).toThrow('no receipt');
    expect(say({ ...receipt, claims: [] })).toThrow('1 to 256 claims');
    expect(say({ ...receipt, claims: [null] })).toThrow('job');
    expect(say({ ...receipt, root: 'AB' })).toThrow('root');
    expect(say({ ...receipt, device: 'x' })).toThrow('base58');
    expect(say({ ...receipt, claims: [{ ...claims[0], task: 1.5 }] })).toThrow('whole numbers');
  });
});
