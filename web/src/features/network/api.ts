// The coordinator's lists, read over HTTP. What the server owns is fetched, not mirrored.

export type Job = {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly tasks: number;
  readonly accepted: number;
};
export type Worker = {
  readonly id: string;
  readonly kind: 'native' | 'browser';
  readonly device: 'gpu' | 'cpu';
  readonly description: string;
  readonly tasks: number;
  readonly credits: number;
};
export type Network = { readonly jobs: readonly Job[]; readonly workers: readonly Worker[]; readonly ledgerSum: number };

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** An answer that is not JSON, or an error, becomes an Error with one sentence. */
async function get(fetch: Fetch, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(path, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`${path} answered ${response.status}.`);
  return response.json();
}

export async function fetchNetwork(fetch: Fetch, base: string, signal: AbortSignal): Promise<Network> {
  const [jobs, workers, ledger] = await Promise.all([
    get(fetch, `${base}v1/jobs`, signal) as Promise<{ jobs: Job[] }>,
    get(fetch, `${base}v1/workers`, signal) as Promise<{ workers: Worker[] }>,
    get(fetch, `${base}v1/ledger`, signal) as Promise<{ sum: number }>,
  ]);
  return { jobs: jobs.jobs, workers: workers.workers, ledgerSum: ledger.sum };
}
