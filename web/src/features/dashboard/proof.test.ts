// A proof that holds is accepted, and no single changed byte of it is. Keys, signatures and trees are made here with WebCrypto.
import { describe, expect, it } from 'vitest';
import type { Proof } from '../../wire/api';
import { base58 } from '../../engine/keptWallet';
import { check, chunkBytes, climb, fromBase58, fromHex, leaf, node, outputRoot, rootOf, sha256, toHex } from './proof';

const job = '000102030405060708090a0b0c0d0e0f';
const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
const read = async (hash: string) => {
  const bytes = blobs.get(hash);
  if (bytes === undefined) throw new Error('There is no such blob.');
  return bytes;
};
const keep = async (bytes: Uint8Array<ArrayBuffer>) => {
  const hash = toHex(await sha256(bytes));
  blobs.set(hash, bytes);
  return hash;
};

async function taskRoot(bytes: Uint8Array) {
  return rootOf([await leaf(await outputRoot(bytes))]);
}

async function sample(index = 2): Promise<Proof> {
  const bytes = Uint8Array.from({ length: chunkBytes + 5 }, (_, i) => i % 251);
  const root = await taskRoot(bytes);
  const roots = await Promise.all([0, 1, 2].map((i) => (i === index ? root : taskRoot(Uint8Array.of(i)))));
  const leaves = await Promise.all(roots.map(leaf));
  const [a, b, c] = leaves as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  const path = index === 2 ? [toHex(await node(a, b))] : [toHex(index === 0 ? b : a), toHex(c)];
  const coordinator = crypto.getRandomValues(new Uint8Array(32));
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  const key = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  const statement = new Uint8Array(14 + 32 + 32 + 4 + 56);
  statement.set(new TextEncoder().encode('weft-receipt-1'));
  statement.set(coordinator, 14);
  const view = new DataView(statement.buffer);
  view.setUint32(78, 1, true);
  statement.set(fromHex(job, 16) ?? [], 82);
  view.setUint32(98, index, true);
  view.setUint32(102, 9, true);
  statement.set(root, 106);
  const digest = await sha256(statement);
  return {
    job, index, tasks: 3, coordinator: base58(coordinator), root: toHex(root), job_root: toHex(await rootOf(leaves)), path,
    outputs: [{ hash: await keep(bytes), bytes: bytes.length }],
    replicas: [
      {
        worker: base58(key), attempt: 9, root: toHex(root), agreed: true, receipt: await keep(statement),
        signature: base58(new Uint8Array(await crypto.subtle.sign('Ed25519', pair.privateKey, digest))), gpu_seconds: 0, wall_seconds: 0, arrived: 0,
      },
    ],
  };
}

describe('check', () => {
  it.each([0, 1, 2])('accepts task %i of three', async (index) => {
    const checked = await check(await sample(index), read);
    expect(checked.checks.map(({ ok, detail }) => [ok, detail])).toEqual([
      [true, '65,541 bytes hash to the task’s root.'],
      [true, `${index === 2 ? 1 : 2} steps lead to the job’s root.`],
      [true, '1 of 1 receipts are signed by their workers.'],
    ]);
    expect(checked.ok).toBe(true);
  });

  const flip = (hex: string) => (hex.startsWith('0') ? '1' : '0') + hex.slice(1);
  const replica = (proof: Proof) => proof.replicas[0] as Proof['replicas'][number];
  it.each<[string, (proof: Proof) => Promise<Proof> | Proof]>([
    ['other bytes', async (proof) => ({ ...proof, outputs: [{ hash: await keep(Uint8Array.of(1)), bytes: 1 }] })],
    ['another root', (proof) => ({ ...proof, root: flip(proof.root) })],
    ['another job root', (proof) => ({ ...proof, job_root: flip(proof.job_root) })],
    ['another path', (proof) => ({ ...proof, path: proof.path.map(flip) })],
    ['no path', (proof) => ({ ...proof, path: [] })],
    ['a longer path', (proof) => ({ ...proof, path: [...proof.path, proof.root] })],
    ['another place in the job', (proof) => ({ ...proof, index: 0 })],
    ['an index past the end', (proof) => ({ ...proof, index: 3 })],
    ['another attempt', (proof) => ({ ...proof, replicas: [{ ...replica(proof), attempt: 8 }] })],
    ['another coordinator', (proof) => ({ ...proof, coordinator: replica(proof).worker })],
    ['another worker', async (proof) => ({ ...proof, replicas: [{ ...replica(proof), worker: replica(await sample()).worker }] })],
    ['another signature', async (proof) => ({ ...proof, replicas: [{ ...replica(proof), signature: replica(await sample(1)).signature }] })],
    ['an unknown receipt', (proof) => ({ ...proof, replicas: [{ ...replica(proof), receipt: flip(replica(proof).receipt) }] })],
  ])('refuses %s', async (_, change) => {
    const checked = await check(await change(await sample()), read);
    expect(checked.ok).toBe(false);
    expect(checked.checks.some((one) => one.ok === false)).toBe(true);
  });

  it('says what is open while the job runs', async () => {
    const checked = await check({ ...(await sample()), root: '', job_root: '', path: [], outputs: [], replicas: [] }, read);
    expect(checked.checks.map((one) => one.ok)).toEqual([null, null, null]);
    expect(checked.ok).toBe(false);
  });
});

describe('the parts', () => {
  it('keeps to RFC 9162: the empty tree, and an odd node promoted', async () => {
    expect(toHex(await rootOf([]))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    const leaves = await Promise.all([1, 2, 3].map((byte) => leaf(Uint8Array.of(byte))));
    const [a, b, c] = leaves as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
    expect(await rootOf(leaves)).toEqual(await node(await node(a, b), c));
  });

  it('names each step of the way', async () => {
    const roots = await Promise.all([1, 2, 3, 4].map((byte) => sha256(Uint8Array.of(byte))));
    const leaves = await Promise.all(roots.map(leaf));
    const [a, b, c, d] = leaves as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
    const led = await climb(roots[1] as Uint8Array, 1, 4, [toHex(a), toHex(await node(c, d))]);
    expect(led?.root).toBe(toHex(await rootOf([a, b, c, d])));
    expect(led?.steps.map((step) => step.side)).toEqual(['left', 'right']);
  });

  it('reads base58 and hex of one length only', () => {
    expect(fromBase58(base58(Uint8Array.of(0, 0, 1, 2)), 4)).toEqual(Uint8Array.of(0, 0, 1, 2));
    expect(fromBase58('0OIl', 32)).toBeNull();
    expect(fromBase58('zzzzzzzz', 4)).toBeNull();
    expect(fromHex('0aff', 2)).toEqual(Uint8Array.of(10, 255));
    expect(fromHex('0aFF', 2)).toBeNull();
    expect(fromHex('0a', 2)).toBeNull();
  });
});
