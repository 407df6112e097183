// A summary of the network: the running jobs, the connected workers, and the check that the ledger
// balances.
import { formatCredits, plural, shorten } from '../../design/format';
import { Swatch } from '../../weave/Swatch';
import type { Job, Worker } from './api';
import type { NetworkState } from './useNetwork';

const jobsShown = 6;
const workersShown = 8;

export function NetworkPanel({ state, ownAddress }: { state: NetworkState; ownAddress: string | null }) {
  const { network, error } = state;
  return (
    <section aria-labelledby="network-title" className="mt-16 border-t border-line pt-10">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
        <h2 id="network-title" className="text-2xl font-semibold tracking-tight">
          On the loom
        </h2>
        {network ? <LedgerLine sum={network.ledgerSum} /> : null}
      </div>
      {error ? (
        <p role="status" className="mt-3 text-madder">
          The coordinator's lists cannot be read right now. {error}
        </p>
      ) : null}
      {network ? (
        <div className="mt-6 grid gap-x-12 gap-y-10 lg:grid-cols-[3fr_2fr]">
          <div>
            <h3 className="text-sm font-semibold text-soft">{plural(network.jobs.length, 'job')}</h3>
            {network.jobs.length === 0 ? (
              <p className="mt-3 max-w-prose text-soft">
                No job is waiting. Submit one with <code className="font-mono text-[0.9em] text-ink">weft submit</code> and it shows here.
              </p>
            ) : (
              <ul className="mt-2 divide-y divide-line">
                {network.jobs.slice(0, jobsShown).map((job) => (
                  <JobRow key={job.id} job={job} />
                ))}
              </ul>
            )}
          </div>
          <div>
            <h3 className="text-sm font-semibold text-soft">{plural(network.workers.length, 'worker')}</h3>
            {network.workers.length === 0 ? (
              <p className="mt-3 text-soft">No workers are connected. This tab can be the first.</p>
            ) : (
              <ul className="mt-2 divide-y divide-line">
                {network.workers.slice(0, workersShown).map((worker) => (
                  <WorkerRow key={worker.key} worker={worker} own={worker.key === ownAddress} />
                ))}
              </ul>
            )}
            {network.workers.length > workersShown ? (
              <p className="mt-2 text-sm text-soft">and {plural(network.workers.length - workersShown, 'other')}</p>
            ) : null}
          </div>
        </div>
      ) : error ? null : (
        <p className="mt-4 text-soft">Asking the coordinator…</p>
      )}
    </section>
  );
}

function LedgerLine({ sum }: { sum: number }) {
  return (
    <p className={`text-sm ${sum === 0 ? 'text-leaf' : 'text-madder'}`} data-testid="ledger-sum">
      {sum === 0 ? 'The books balance: all accounts sum to 0' : `The books do not balance: all accounts sum to ${formatCredits(sum)}`}
    </p>
  );
}

const jobColours: Record<string, string> = { done: 'text-leaf', corrected: 'text-leaf', failed: 'text-madder' };

function JobRow({ job }: { job: Job }) {
  const share = job.tasks === 0 ? 0 : job.accepted / job.tasks;
  return (
    <li className="grid grid-cols-[1fr_5.5rem] items-center gap-x-4 gap-y-1.5 py-3">
      <span className="truncate font-medium">{job.name || shorten(job.id)}</span>
      <span className={`text-right text-sm ${jobColours[job.state] ?? 'text-soft'}`} title={job.reason || undefined}>
        {job.state}
      </span>
      <div className="h-2 overflow-hidden rounded-full bg-sunk" aria-hidden="true">
        <svg viewBox="0 0 100 2" preserveAspectRatio="none" className="block h-full w-full">
          <rect width={share * 100} height="2" fill="var(--warp)" />
        </svg>
      </div>
      <span className="text-right font-mono text-sm tabular-nums" aria-label={`${job.accepted} of ${job.tasks} tasks accepted`}>
        {job.accepted}/{job.tasks}
      </span>
    </li>
  );
}

function WorkerRow({ worker, own }: { worker: Worker; own: boolean }) {
  return (
    <li className="flex items-center gap-3 py-2.5">
      <Swatch seed={worker.key} className="size-8 shrink-0 rounded-sm" />
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="truncate font-mono text-sm" title={worker.key}>
            {shorten(worker.key)}
          </span>
          {own ? <span className="rounded-sm bg-weld px-1.5 text-xs font-semibold text-on-weld">this tab</span> : null}
        </p>
        <p className="truncate text-sm text-soft">
          {worker.kind === 'browser' ? 'browser' : 'native'}, {worker.device === 'gpu' ? worker.description || 'GPU' : 'CPU kernels'}
        </p>
      </div>
      <div className="text-right font-mono text-sm tabular-nums">
        <p className="text-soft">{plural(worker.accepted, 'task')}</p>
      </div>
    </li>
  );
}
