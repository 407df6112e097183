// Tests that a valid proof is accepted and that every single changed byte makes it fail. Keys, signatures and trees are made with
// WebCrypto.
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

const word = (text: string) => new TextEncoder().encode(text);
const little = (value: number) => Uint8Array.from([value, value >> 8, value >> 16, value >> 24].map((byte) => byte & 255));
const joined = (...parts: readonly Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

/**
 * Returns the statement that is signed for one claim, and the blob with its claims: this one, one of another task, and one of a part of
 * this task.
 */
async function secondFormat(coordinator: Uint8Array, index: number, root: Uint8Array) {
  const task = (of: number) => joined(fromHex(job, 16) ?? new Uint8Array(), little(of), little(9));
  const other = Uint8Array.from({ length: 32 }, () => 7);
  const whole = async (of: number, its: Uint8Array) => leaf(await sha256(word('weft-claim-2'), task(of), its));
  const part = await leaf(await sha256(word('weft-part-2'), task(index), little(5), little(2), other));
  const claims = joined(word('weft-claims-2'), little(3), task(index + 1), other, new Uint8Array(8), task(index), other, little(5), little(2), task(index), root, new Uint8Array(8));
  const tree = await rootOf([await whole(index + 1, other), part, await whole(index, root)]);
  const statement = joined(word('weft-receipt-2'), new Uint8Array(64), coordinator, new Uint8Array(64).fill(3), tree);
  // The claims as they are shown to an owner who owns only this job: the other claim is a digest.
  const hidden = await sha256(word('weft-claim-2'), task(index + 1), other);
  const shown = joined(word('weft-claims-3'), little(3), Uint8Array.of(0), hidden, Uint8Array.of(1), task(index), other, little(5), little(2), Uint8Array.of(1), task(index), root, new Uint8Array(8));
  return { statement, claims, shown };
}

async function sample(index = 2, format: 1 | 2 | 3 = 2): Promise<Proof> {
  const bytes = Uint8Array.from({ length: chunkBytes + 5 }, (_, i) => i % 251);
  const root = await taskRoot(bytes);
  const roots = await Promise.all([0, 1, 2].map((i) => (i === index ? root : taskRoot(Uint8Array.of(i)))));
  const leaves = await Promise.all(roots.map(leaf));
  const [a, b, c] = leaves as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  const path = index === 2 ? [toHex(await node(a, b))] : [toHex(index === 0 ? b : a), toHex(c)];
  const coordinator = crypto.getRandomValues(new Uint8Array(32));
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  const key = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  const first = joined(word('weft-receipt-1'), coordinator, new Uint8Array(32), little(1), fromHex(job, 16) ?? new Uint8Array(), little(index), little(9), root);
  const second = await secondFormat(coordinator, index, root);
  const statement = format === 1 ? first : second.statement;
  const digest = await sha256(statement);
  return {
    job, index, tasks: 3, coordinator: base58(coordinator), root: toHex(root), job_root: toHex(await rootOf(leaves)), path,
    outputs: [{ hash: await keep(bytes), bytes: bytes.length }],
    replicas: [
      {
        worker: base58(key), attempt: 9, root: toHex(root), agreed: true, receipt: await keep(statement), claims: format === 1 ? '' : await keep(format === 2 ? second.claims : second.shown),
        signature: base58(new Uint8Array(await crypto.subtle.sign('Ed25519', pair.privateKey, digest))), gpu_seconds: 0, wall_seconds: 0, arrived: 0,
      },
    ],
  };
}

describe('check', () => {
  it.each([[0, 2], [1, 2], [2, 2], [0, 1], [2, 1], [2, 3]] as const)('accepts task %i of three, with a receipt of format %i (3: the second, with a claim of another job as its digest)', async (index, format) => {
    const checked = await check(await sample(index, format), read);
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
    ['other claims', async (proof) => ({ ...proof, replicas: [{ ...replica(proof), claims: replica(await sample(1)).claims }] })],
    ['claims of the other format', (proof) => ({ ...proof, replicas: [{ ...replica(proof), claims: '' }] })],
    ['a claim of a part', (proof) => ({ ...proof, replicas: [{ ...replica(proof), root: '07'.repeat(32) }] })],
    ['an unknown receipt', (proof) => ({ ...proof, replicas: [{ ...replica(proof), receipt: flip(replica(proof).receipt) }] })],
  ])('refuses %s', async (_, change) => {
    const checked = await check(await change(await sample()), read);
    expect(checked.ok).toBe(false);
    expect(checked.checks.some((one) => one.ok === false)).toBe(true);
  });

  it('refuses claims, some of them digests, in which anything is changed, missing or too much', async () => {
    const proof = await sample(2, 3), claims = blobs.get(replica(proof).claims) as Uint8Array<ArrayBuffer>;
    const changed = [claims.subarray(0, claims.length - 1), joined(claims, Uint8Array.of(0)), ...Array.from(claims, (_, at) => claims.with(at, (claims[at] ?? 0) ^ 1))];
    for (const [at, other] of changed.entries())
      expect((await check({ ...proof, replicas: [{ ...replica(proof), claims: await keep(Uint8Array.from(other)) }] }, read)).ok, String(at)).toBe(false);
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
