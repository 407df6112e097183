// The job whose link is in the page's address: its progress, its results, and the receipts of its tasks.
import { formatCredits, plural, shorten } from '../../design/format';
import type { SharedJob } from '../network/sharedJob';
import { fetchJob, pathOf, type Job } from './api';
import { ProofPanel } from './ProofPanel';
import { useAsked } from './useAsked';

type Props = { base: string; shared: SharedJob; task: number; onTask: (task: number) => void };

export function SharedJobPanel({ base, shared, task, onTask }: Props) {
  const { value: job, error } = useAsked<Job>((signal) => fetchJob(base, shared, signal), `${shared.id} ${shared.link}`, ({ state }) => state !== 'running');
  const last = Math.max(0, (job?.tasks ?? 1) - 1);
  return (
    <>
      <section aria-labelledby="shared-title" data-testid="shared-job" data-state={job?.state ?? ''}>
        <h2 id="shared-title" className="text-2xl font-semibold tracking-tight">
          {job?.name || `Job ${shorten(shared.id)}`}
        </h2>
        {error ? (
          <p role="status" className="mt-3 text-madder">
            {error}
          </p>
        ) : null}
        {job === null ? null : <About base={base} shared={shared} job={job} />}
      </section>
      {job !== null ? (
        <div className="mt-12 border-t border-line pt-8">
          <ProofPanel base={base} shared={shared} job={job} index={Math.min(task, last)} onIndex={onTask} />
        </div>
      ) : null}
    </>
  );
}

function About({ base, shared, job }: { base: string; shared: SharedJob; job: Job }) {
  return (
    <>
      <p className="mt-2 text-soft">
        {job.state}, {job.accepted.toLocaleString('en')} of {plural(job.tasks, 'task')} accepted
        {job.price > 0 ? `, ${formatCredits(job.price)} of ${formatCredits(job.budget)} credits` : ''}. By <span className="font-mono text-sm">{shorten(job.client)}</span>.
      </p>
      {job.decided ? (
        <p className="mt-2 text-soft" data-testid="decided">
          {job.decided}
        </p>
      ) : null}
      {job.corrections.length > 0 ? <Corrections job={job} /> : null}
      {job.reason ? <p className="mt-2 text-madder">{job.reason}</p> : null}
      {job.outputs.length > 0 ? (
        <ul className="mt-3 flex flex-wrap gap-x-6 gap-y-2 text-sm" aria-label="Outputs">
          {job.outputs.map((output, i) => (
            <li key={output.name}>
              <a
                href={new URL(pathOf(shared, `/outputs/${i}`), base).href}
                download={`${job.name || shared.id}.${output.name}.bin`}
                className="rounded underline decoration-line underline-offset-4 hover:decoration-ink"
              >
                {output.name}
              </a>{' '}
              <span className="text-soft">{output.bytes.toLocaleString('en')} bytes</span>
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

/** Lists accepted results that turned out to be wrong, and results that could not be computed again. */
function Corrections({ job }: { job: Job }) {
  return (
    <div className="mt-3" data-testid="corrections">
      <p>
        {job.corrected > 0
          ? `${plural(job.corrected, 'result')} of a convicted worker ${job.corrected === 1 ? 'was' : 'were'} wrong and ${job.corrected === 1 ? 'is' : 'are'} replaced; ${formatCredits(job.refunded)} credits are returned. `
          : ''}
        {job.unchecked > 0 ? `${plural(job.unchecked, 'result')} of a convicted worker could not be computed again.` : ''}
      </p>
      <details className="mt-1 text-sm text-soft">
        <summary className="rounded hover:text-ink">Which</summary>
        <ul className="mt-2 space-y-1">
          {job.corrections.map((one) => (
            <li key={one.task}>
              Task {one.task} of <span className="font-mono">{shorten(one.worker)}</span>: {one.replaced ? 'replaced' : one.reason}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}
