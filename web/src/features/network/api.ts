// The coordinator's lists, read over HTTP. What the server owns is fetched, not mirrored.
import type { Jobs, Ledger, Problem, Workers } from '../../wire/api';

export type Job = Jobs['jobs'][number];
export type Worker = Workers['workers'][number];
export type Network = {
  /** Newest first. */
  readonly jobs: readonly Job[];
  /** Those that are connected. */
  readonly workers: readonly Worker[];
  readonly ledgerSum: number;
};

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** An answer that is no such document, or an error, becomes an Error with one sentence. */
async function get<View>(fetch: Fetch, base: string, path: string, fits: (view: View) => boolean, signal: AbortSignal): Promise<View> {
  const response = await fetch(new URL(path, base).href, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
    throw new Error(`${path} answered ${response.status}${problem.detail ? `: ${problem.detail}` : '.'}`);
  }
  const view = (await response.json()) as View;
  if (!fits(view)) throw new Error(`${path} answered with something else than it should.`);
  return view;
}

export async function fetchNetwork(fetch: Fetch, base: string, signal: AbortSignal): Promise<Network> {
  const [jobs, workers, ledger] = await Promise.all([
    get<Jobs>(fetch, base, '/v1/jobs', (view) => Array.isArray(view.jobs), signal),
    get<Workers>(fetch, base, '/v1/workers', (view) => Array.isArray(view.workers), signal),
    get<Ledger>(fetch, base, '/v1/ledger', (view) => typeof view.sum === 'number', signal),
  ]);
  return { jobs: jobs.jobs, workers: workers.workers.filter((worker) => worker.connected), ledgerSum: ledger.sum };
}
