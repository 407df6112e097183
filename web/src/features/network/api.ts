// Reads the coordinator's lists over HTTP. Data that belongs to the server is fetched each time, not mirrored.
import type { Jobs, Ledger, Problem, Workers } from '../../wire/api';

export type Job = Jobs['jobs'][number];
export type Worker = Workers['workers'][number];
export type Network = {
  /** The newest job is first. */
  readonly jobs: readonly Job[];
  /** The workers that are connected. */
  readonly workers: readonly Worker[];
  readonly ledgerSum: number;
};

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** Fetches a document. An error, or an answer that is not such a document, becomes an Error with a message of one sentence. */
async function get<View>(fetch: Fetch, base: string, path: string, fits: (view: View) => boolean, signal: AbortSignal): Promise<View> {
  const response = await fetch(new URL(path, base).href, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
    throw new Error(`${path} answered ${response.status}${problem.detail ? `: ${problem.detail}` : '.'}`);
  }
  const view = (await response.json()) as View;
  if (!fits(view)) throw new Error(`${path} answered with an unexpected document.`);
  return view;
}

const workerPagesMax = 50;

/** Fetches all pages of the list of workers. */
async function fetchWorkers(fetch: Fetch, base: string, signal: AbortSignal): Promise<Workers['workers']> {
  const all: Worker[] = [];
  let from = '';
  for (let page = 0; page < workerPagesMax; ++page) {
    const path = from === '' ? '/v1/workers' : `/v1/workers?from=${encodeURIComponent(from)}`;
    const view = await get<Workers>(fetch, base, path, ({ workers }) => Array.isArray(workers), signal);
    all.push(...view.workers);
    from = view.next ?? '';
    if (from === '') break;
  }
  return all;
}

export async function fetchNetwork(fetch: Fetch, base: string, signal: AbortSignal): Promise<Network> {
  const [jobs, workers, ledger] = await Promise.all([
    get<Jobs>(fetch, base, '/v1/jobs', (view) => Array.isArray(view.jobs), signal),
    fetchWorkers(fetch, base, signal),
    get<Ledger>(fetch, base, '/v1/ledger', (view) => typeof view.sum === 'number', signal),
  ]);
  return { jobs: jobs.jobs, workers: workers.filter((worker) => worker.connected), ledgerSum: ledger.sum };
}
