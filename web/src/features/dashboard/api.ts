// What the dashboard asks for over HTTP when the visitor opens it: the ledger, and one task's proof.
import type { Ledger, LedgerAccount, Problem, Proof } from '../../wire/api';

async function ask(base: string, path: string, signal: AbortSignal | undefined): Promise<Response> {
  const response = await fetch(new URL(path, base).href, signal ? { signal } : {});
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  throw new Error(problem.detail ?? `${path} answered ${response.status}.`);
}

export async function fetchLedger(base: string, signal?: AbortSignal): Promise<Ledger> {
  const ledger = (await (await ask(base, '/v1/ledger', signal)).json()) as Ledger;
  if (typeof ledger.sum !== 'number' || !Array.isArray(ledger.balances)) throw new Error('/v1/ledger answered with something else than it should.');
  return ledger;
}

export async function fetchAccount(base: string, account: string, signal?: AbortSignal): Promise<LedgerAccount> {
  const found = (await (await ask(base, `/v1/ledger?account=${encodeURIComponent(account)}`, signal)).json()) as LedgerAccount;
  if (!Array.isArray(found.entries)) throw new Error('/v1/ledger answered with something else than it should.');
  return found;
}

export async function fetchProof(base: string, job: string, index: number): Promise<Proof> {
  const proof = (await (await ask(base, `/v1/jobs/${encodeURIComponent(job)}/tasks/${index}/proof`, undefined)).json()) as Proof;
  if (!Array.isArray(proof.path) || !Array.isArray(proof.replicas) || !Array.isArray(proof.outputs)) throw new Error('The proof is something else than it should be.');
  return proof;
}

export async function fetchBlob(base: string, hash: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await ask(base, `/v1/blobs/${encodeURIComponent(hash)}`, undefined)).arrayBuffer());
}
