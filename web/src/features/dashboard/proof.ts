// Checks one task without trusting the coordinator: from the bytes to the task's Merkle root, from there to the job's root, and each
// worker's signature over a receipt that names this task and this root. The rules are those of src/common/proof; hashes and signatures are
// computed by the browser (WebCrypto).
import type { Proof } from '../../wire/api';

export const chunkBytes = 65_536;

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Reads base58 as Solana writes keys. Returns null if the text does not contain exactly `bytes` bytes. */
export function fromBase58(text: string, bytes: number): Uint8Array<ArrayBuffer> | null {
  const out = new Uint8Array(bytes);
  for (const character of text) {
    let carry = alphabet.indexOf(character);
    if (carry < 0) return null;
    for (let i = bytes - 1; i >= 0; i -= 1) {
      carry += (out[i] ?? 0) * 58;
      out[i] = carry & 255;
      carry >>= 8;
    }
    if (carry !== 0) return null;
  }
  return out;
}

/** Returns null if the text is not hexadecimal with `bytes` bytes. */
export function fromHex(text: string, bytes: number): Uint8Array<ArrayBuffer> | null {
  if (text.length !== 2 * bytes || !/^[0-9a-f]*$/.test(text)) return null;
  return Uint8Array.from({ length: bytes }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export async function sha256(...parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all));
}

const leafDomain = Uint8Array.of(0);
const nodeDomain = Uint8Array.of(1);
export const leaf = (bytes: Uint8Array) => sha256(leafDomain, bytes);
export const node = (left: Uint8Array, right: Uint8Array) => sha256(nodeDomain, left, right);

/** Returns the root over leaf hashes; a node without a sibling moves up unchanged. */
export async function rootOf(leaves: readonly Uint8Array<ArrayBuffer>[]): Promise<Uint8Array<ArrayBuffer>> {
  let level = leaves;
  if (level.length === 0) return sha256();
  while (level.length > 1) {
    const above: Uint8Array<ArrayBuffer>[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const [left, right] = [level[i], level[i + 1]];
      if (left !== undefined) above.push(right === undefined ? left : await node(left, right));
    }
    level = above;
  }
  return level[0] ?? sha256();
}

export async function outputRoot(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const leaves: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) leaves.push(await leaf(bytes.subarray(at, at + chunkBytes)));
  return rootOf(leaves);
}

/** One step of the path from a task's root to the job's root. */
export type Step = { readonly hash: string; readonly sibling: string; readonly side: 'left' | 'right' };

/** Follows a Merkle path and returns its end and its steps; null if the path is too short, too long or invalid. */
export async function climb(root: Uint8Array, index: number, width: number, siblings: readonly string[]): Promise<{ root: string; steps: Step[] } | null> {
  if (index >= width) return null;
  let hash = await leaf(root);
  const steps: Step[] = [];
  let used = 0;
  for (let at = index, wide = width; wide > 1; wide = Math.ceil(wide / 2), at = Math.floor(at / 2)) {
    if ((at ^ 1) >= wide) continue;  // The node has no sibling.
    const sibling = siblings[used];
    const bytes = sibling === undefined ? null : fromHex(sibling, 32);
    if (sibling === undefined || bytes === null) return null;
    used += 1;
    const above = at % 2 === 0 ? await node(hash, bytes) : await node(bytes, hash);
    steps.push({ hash: toHex(hash), sibling, side: at % 2 === 0 ? 'right' : 'left' });
    hash = above;
  }
  return used === siblings.length ? { root: toHex(hash), steps } : null;
}

export type Check = { readonly name: string; readonly ok: boolean | null; readonly detail: string };
export type ReplicaCheck = { readonly worker: string; readonly agreed: boolean; readonly ok: boolean; readonly detail: string; readonly receipt: string };
export type Checked = {
  /** True if every check that was possible succeeded. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  readonly steps: readonly Step[];
  readonly replicas: readonly ReplicaCheck[];
};

/** Reads a blob, or the claims of a receipt. Larger outputs than `outputBytesMax` are not fetched for a check. */
export type ReadBlob = (hash: string, receipt?: string) => Promise<Uint8Array<ArrayBuffer>>;
export const outputBytesMax = 32 * 1024 * 1024;

// A signed statement is a receipt of the second format, whose claims are in a separate blob, or of the first format, which contains them.
const textOf = (word: string) => new TextEncoder().encode(word);
const firstName = textOf('weft-receipt-1');
const secondName = textOf('weft-receipt-2');
const claimsName = textOf('weft-claims-2');
const shownName = textOf('weft-claims-3');  // In this form claims of other jobs are digests.
const claimBytes = 16 + 4 + 4 + 32;
const rangeBytes = 4 + 4;  // The range of a part of the task; zeros mean the whole task.

function startsWith(bytes: Uint8Array, start: Uint8Array, at = 0): boolean {
  return at + start.length <= bytes.length && start.every((byte, i) => bytes[at + i] === byte);
}

/** Returns the records at the end of the bytes, `each` bytes long, which follow their count; null if the length is wrong. */
function listOf(bytes: Uint8Array, at: number, each: number): Uint8Array[] | null {
  if (bytes.length < at + 4) return null;
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
  if (bytes.length !== at + 4 + count * each) return null;
  return Array.from({ length: count }, (_, i) => bytes.subarray(at + 4 + i * each, at + 4 + (i + 1) * each));
}

/** True if a receipt of the first format contains this claim. Its fields are a name, the coordinator, the session and the claims. */
export function names(statement: Uint8Array, coordinator: Uint8Array, claim: Uint8Array): boolean {
  if (!startsWith(statement, firstName) || !startsWith(statement, coordinator, firstName.length)) return false;
  return listOf(statement, firstName.length + 32 + 32, claimBytes)?.some((one) => startsWith(one, claim)) ?? false;
}

type Shown = { readonly claim: Uint8Array } | { readonly digest: Uint8Array };

/**
 * Reads claims as the coordinator shows them to a job's owner: all of them, or those of other jobs as digests. Null if the bytes are not
 * claims.
 */
function shownClaims(bytes: Uint8Array): readonly Shown[] | null {
  const record = claimBytes + rangeBytes;
  if (startsWith(bytes, claimsName)) return listOf(bytes, claimsName.length, record)?.map((claim) => ({ claim })) ?? null;
  if (!startsWith(bytes, shownName) || bytes.length < shownName.length + 4) return null;
  const shown: Shown[] = [];
  let at = shownName.length + 4;
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(shownName.length, true);
  while (at < bytes.length) {
    const kind = bytes[at], length = kind === 1 ? record : 32;
    if ((kind !== 0 && kind !== 1) || at + 1 + length > bytes.length) return null;
    const field = bytes.subarray(at + 1, at + 1 + length);
    shown.push(kind === 1 ? { claim: field } : { digest: field });
    at += 1 + length;
  }
  return shown.length === count ? shown : null;
}

/** Returns the digest of a claim that is a leaf of the tree. */
async function digestOf(one: Shown): Promise<Uint8Array> {
  if ('digest' in one) return one.digest;
  const task = one.claim.subarray(0, 24), root = one.claim.subarray(24, claimBytes), range = one.claim.subarray(claimBytes);
  const part = range.subarray(4).some((byte) => byte !== 0);
  return part ? sha256(textOf('weft-part-2'), task, range, root) : sha256(textOf('weft-claim-2'), task, root);
}

/**
 * True if a receipt of the second format contains this claim. Its fields are a name, genesis, program, the coordinator, both nonces, and
 * the root of `claims`.
 */
export async function namesByRoot(statement: Uint8Array, claims: Uint8Array, coordinator: Uint8Array, claim: Uint8Array): Promise<boolean> {
  if (statement.length !== secondName.length + 6 * 32 || !startsWith(statement, secondName) || !startsWith(statement, coordinator, secondName.length + 64)) return false;
  const list = shownClaims(claims);
  if (list === null) return false;
  const leaves = await Promise.all(list.map(async (one) => leaf(await digestOf(one))));
  if (!startsWith(statement, await rootOf(leaves), statement.length - 32)) return false;
  return list.some((one) => 'claim' in one && startsWith(one.claim, claim) && one.claim.subarray(claimBytes).every((byte) => byte === 0));
}

function claimOf(job: Uint8Array, index: number, attempt: number, root: Uint8Array): Uint8Array {
  const claim = new Uint8Array(claimBytes);
  claim.set(job);
  const view = new DataView(claim.buffer);
  view.setUint32(16, index, true);
  view.setUint32(20, attempt, true);
  claim.set(root, 24);
  return claim;
}

async function checkReplica(proof: Proof, replica: Proof['replicas'][number], read: ReadBlob): Promise<string> {
  const key = fromBase58(replica.worker, 32);
  const signature = fromBase58(replica.signature, 64);
  const digest = fromHex(replica.receipt, 32);
  const root = fromHex(replica.root, 32);
  const job = fromHex(proof.job, 16);
  const coordinator = fromBase58(proof.coordinator, 32);
  if (!key || !signature || !digest || !root || !job || !coordinator) return 'The receipt does not have the expected form.';
  const statement = await read(replica.receipt);
  if (toHex(await sha256(statement)) !== replica.receipt) return 'The signed statement does not have the receipt’s digest.';
  const claim = claimOf(job, proof.index, replica.attempt, root);
  const named = replica.claims === '' ? names(statement, coordinator, claim) : await namesByRoot(statement, await read(replica.claims, replica.receipt), coordinator, claim);
  if (!named) return 'The receipt does not name this result.';
  const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  if (!(await crypto.subtle.verify('Ed25519', imported, signature, digest))) return 'The signature is not this worker’s.';
  return '';
}

const failed = (error: unknown) => (error instanceof Error ? error.message : String(error));

export async function check(proof: Proof, read: ReadBlob): Promise<Checked> {
  const checks: Check[] = [];
  let steps: readonly Step[] = [];
  const root = fromHex(proof.root, 32);

  if (root === null) {
    checks.push({ name: 'Bytes to root', ok: null, detail: 'The task is not accepted yet.' });
  } else if (proof.outputs.reduce((sum, output) => sum + output.bytes, 0) > outputBytesMax) {
    checks.push({ name: 'Bytes to root', ok: null, detail: 'The outputs are too large to fetch for a check.' });
  } else {
    try {
      const roots: Uint8Array<ArrayBuffer>[] = [];
      for (const output of proof.outputs) roots.push(await leaf(await outputRoot(await read(output.hash))));
      const ok = toHex(await rootOf(roots)) === proof.root;
      const bytes = proof.outputs.reduce((sum, output) => sum + output.bytes, 0);
      checks.push({ name: 'Bytes to root', ok, detail: ok ? `${bytes.toLocaleString('en')} bytes hash to the task’s root.` : 'The bytes hash to another root.' });
    } catch (error) {
      checks.push({ name: 'Bytes to root', ok: false, detail: failed(error) });
    }
  }

  if (root === null || proof.job_root === '') {
    checks.push({ name: 'Root to job', ok: null, detail: 'The job is not done yet: it has no root.' });
  } else {
    const led = await climb(root, proof.index, proof.tasks, proof.path);
    steps = led?.steps ?? [];
    const ok = led?.root === proof.job_root;
    checks.push({ name: 'Root to job', ok, detail: ok ? `${steps.length} steps lead to the job’s root.` : 'The path does not lead to the job’s root.' });
  }

  const replicas: ReplicaCheck[] = [];
  for (const replica of proof.replicas) {
    const why = await checkReplica(proof, replica, read).catch(failed);
    const same = replica.root === proof.root;
    const detail = why !== '' ? why : same ? 'Signed this root.' : 'Signed another root.';
    replicas.push({ worker: replica.worker, agreed: replica.agreed, ok: why === '', detail, receipt: replica.receipt });
  }
  const signed = replicas.filter((replica) => replica.ok).length;
  checks.push({
    name: 'Signatures',
    ok: replicas.length === 0 ? null : signed === replicas.length,
    detail: replicas.length === 0 ? 'No worker has signed a result yet.' : `${signed} of ${replicas.length} receipts are signed by their workers.`,
  });
  return { ok: checks.every((one) => one.ok !== false) && checks.some((one) => one.ok === true), checks, steps, replicas };
}
