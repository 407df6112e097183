// The HTTP requests of the dashboard: the ledger's totals, and the job of the page's address with the proofs of its tasks.
import type { Jobs, Ledger, Problem, Proof } from '../../wire/api';
import type { SharedJob } from '../network/sharedJob';

export type Job = Jobs['jobs'][number];

async function ask(base: string, path: string, signal: AbortSignal | undefined): Promise<Response> {
  const response = await fetch(new URL(path, base).href, signal ? { signal } : {});
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  throw new Error(problem.detail ?? `${path.split('?')[0]} answered ${response.status}.`);
}

export async function fetchLedger(base: string, signal?: AbortSignal): Promise<Ledger> {
  const ledger = (await (await ask(base, '/v1/ledger', signal)).json()) as Ledger;
  if (typeof ledger.sum !== 'number' || !Array.isArray(ledger.balances)) throw new Error('/v1/ledger answered with an unexpected document.');
  return ledger;
}

/** Returns a path below the job, with the link that permits to see it. */
export const pathOf = ({ id, link }: SharedJob, rest: string): string => `/v1/jobs/${id}${rest}?link=${link}`;

export async function fetchJob(base: string, job: SharedJob, signal?: AbortSignal): Promise<Job> {
  const found = (await (await ask(base, pathOf(job, ''), signal)).json()) as Job;
  if (typeof found.tasks !== 'number' || !Array.isArray(found.outputs)) throw new Error('The job does not have the expected form.');
  return found;
}

export async function fetchProof(base: string, job: SharedJob, index: number): Promise<Proof> {
  const proof = (await (await ask(base, pathOf(job, `/tasks/${index}/proof`), undefined)).json()) as Proof;
  if (!Array.isArray(proof.path) || !Array.isArray(proof.replicas) || !Array.isArray(proof.outputs)) throw new Error('The proof does not have the expected form.');
  return proof;
}

/** Fetches a blob. With `receipt` it fetches the claims of a receipt, by the receipt's name in the proof. */
export async function fetchBlob(base: string, job: SharedJob, hash: string, receipt?: string): Promise<Uint8Array<ArrayBuffer>> {
  const path = pathOf(job, `/blobs/${encodeURIComponent(hash)}`) + (receipt === undefined ? '' : `&receipt=${encodeURIComponent(receipt)}`);
  return new Uint8Array(await (await ask(base, path, undefined)).arrayBuffer());
}
