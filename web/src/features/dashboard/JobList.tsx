// The list of watched jobs: the progress of each in the colours of its tasks, and its cost. One job is selected for the grid.
import { formatCredits, shorten } from '../../design/format';
import type { BoardJob } from './board';
import { stateColours } from './grid';
import { taskStates } from './tasks';

const stateWords: Record<string, string> = { done: 'text-leaf', corrected: 'text-leaf', failed: 'text-madder' };

export function JobList({ jobs, chosen, onChoose }: { jobs: readonly BoardJob[]; chosen: string | null; onChoose: (id: string) => void }) {
  return (
    <ul className="max-h-[30rem] overflow-y-auto" aria-label="Jobs" data-testid="jobs">
      {jobs.map((job) => (
        <li key={job.head.id}>
          <button
            type="button"
            aria-pressed={job.head.id === chosen}
            onClick={() => onChoose(job.head.id)}
            className="w-full border-l-4 border-transparent px-3 py-2.5 text-left hover:bg-panel aria-pressed:border-weld aria-pressed:bg-panel"
          >
            <span className="flex items-baseline justify-between gap-3">
              <span className="truncate font-mono text-sm" title={job.head.id}>
                {shorten(job.head.id, 8, 4)}
              </span>
              <span className={`text-sm ${stateWords[job.head.state] ?? 'text-soft'}`}>{job.head.state}</span>
            </span>
            <Bar job={job} />
            <span className="mt-1.5 flex justify-between gap-3 font-mono text-xs tabular-nums text-soft">
              <span>
                {(job.head.counts[3] ?? 0).toLocaleString('en')}/{job.head.tasks.toLocaleString('en')}
              </span>
              <span title="Its price">{job.head.price === 0 ? '…' : formatCredits(job.head.price)} cr</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Accepted tasks are first, then tasks in progress, so that the bar grows from the left. */
const order = ['accepted', 'checking', 'leased', 'refused'] as const;

function Bar({ job }: { job: BoardJob }) {
  let x = 0;
  return (
    <svg viewBox="0 0 100 3" preserveAspectRatio="none" className="mt-1.5 block h-2 w-full rounded-full bg-sunk" aria-hidden="true" focusable="false">
      {order.map((state) => {
        const width = (100 * (job.head.counts[taskStates.indexOf(state)] ?? 0)) / Math.max(1, job.head.tasks);
        const from = x;
        x += width;
        return width > 0 ? <rect key={state} x={from} width={width} height="3" fill={`var(--${stateColours[state]})`} /> : null;
      })}
    </svg>
  );
}
