// The whole network on one live page: the running jobs, the workers, the rates, the prices, and proofs with which results can be checked.
import { memo, useCallback, useState, useSyncExternalStore } from 'react';
import { formatCredits, formatRate, plural, shorten } from '../../design/format';
import { Stat } from '../../design/Stat';
import { useSharedJob } from '../network/sharedJob';
import type { Board, Row } from './board';
import type { Feed, FeedState } from './feed';
import { JobList } from './JobList';
import { LedgerPanel } from './LedgerPanel';
import { usePalette } from './palette';
import { SharedJobPanel } from './SharedJobPanel';
import { TaskGrid } from './TaskGrid';
import { TimeChart, type Series } from './TimeChart';
import { TopologyPanel } from './TopologyPanel';

const formatMs = (ms: number) => (ms >= 10_000 ? `${formatRate(ms / 1000)} s` : `${formatRate(ms)} ms`);

/**
 * Shows new messages of the feed with the next frame, so that receiving a message and drawing it are two tasks instead of one long one.
 */
function useFeed(feed: Feed): FeedState {
  const subscribe = useCallback(
    (listener: () => void) => {
      let frame = 0;
      const stop = feed.subscribe(() => {
        frame ||= requestAnimationFrame(() => {
          frame = 0;
          listener();
        });
      });
      return () => {
        cancelAnimationFrame(frame);
        stop();
      };
    },
    [feed],
  );
  return useSyncExternalStore(subscribe, feed.state);
}

export function DashboardPage({ feed, base }: { feed: Feed; base: string }) {
  const state = useFeed(feed);
  return (
    <main className="pb-20">
      <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-2 pt-6">
        <h1 className="text-4xl font-semibold tracking-[-0.02em] sm:text-5xl">The network</h1>
        <Connection state={state} />
      </div>
      {state.board === null ? (
        <p className="mt-10 text-soft">{state.connection === 'waiting' ? 'Nothing to show until the coordinator answers.' : 'Asking the coordinator…'}</p>
      ) : (
        <Live board={state.board} base={base} />
      )}
    </main>
  );
}

const dots = { open: 'bg-leaf', connecting: 'bg-weld-deep animate-[breathe_1.2s_infinite]', waiting: 'bg-madder animate-[breathe_1.2s_infinite]' };

function Connection({ state }: { state: FeedState }) {
  const words = { open: 'Live', connecting: 'Connecting…', waiting: `${state.reason} Trying again.` }[state.connection];
  return (
    <p className="flex items-center gap-2.5 text-soft" role="status" data-testid="feed" data-state={state.connection}>
      <span className={`size-2.5 shrink-0 rounded-full ${dots[state.connection]}`} aria-hidden="true" />
      {words}
    </p>
  );
}

/** Averages over the last seconds, so that one slow second does not make the numbers flicker. */
function recent(rows: readonly Row[], seconds: number): { rate: number; latency: number | null } {
  const last = rows.slice(-seconds);
  const accepted = last.reduce((sum, row) => sum + row.accepted, 0);
  const timed = last.filter((row) => row.accepted > 0);
  const latency = timed.reduce((sum, row) => sum + row.latencyMs * row.accepted, 0) / Math.max(1, accepted);
  return { rate: accepted / Math.max(1, last.length), latency: timed.length === 0 ? null : latency };
}

const throughput: readonly Series[] = [
  { name: 'accepted', colour: 'var(--warp)', filled: true, of: (row) => row.accepted },
  { name: 'refused', colour: 'var(--dye-1)', of: (row) => row.refused },
];
const latency: readonly Series[] = [
  { name: 'median', colour: 'var(--dye-2)', of: (row) => (row.accepted > 0 ? row.latencyMs : null) },
  { name: '9 of 10 within', colour: 'var(--dye-3)', of: (row) => (row.accepted > 0 ? row.latencyHighMs : null) },
];
const price: readonly Series[] = [{ name: 'credits', colour: 'var(--dye-0-deep)', filled: true, of: (row) => row.perUnit / 1e6 }];

const formatWhole = (credits: number) => formatCredits(credits * 1e6);

function Live({ board, base }: { board: Board; base: string }) {
  const palette = usePalette();
  const [chosen, setChosen] = useState<string | null>(null);
  const [task, setTask] = useState(0);
  // Until the visitor chooses a job, the page shows the job of its address. If the address has no job, it shows the newest running job, or
  // else the newest job.
  const shared = useSharedJob();
  const job = board.jobs.find((one) => one.head.id === (chosen ?? shared?.id)) ?? board.jobs.find((one) => one.head.state === 'running') ?? board.jobs[0] ?? null;
  const last = board.history.at(-1);
  const { rate, latency: median } = recent(board.history, 10);
  const perUnit = last?.perUnit ?? 0;
  // Only tasks of the job whose link the page has can be opened, because visitors may not see the tasks of other jobs.
  const openTask = (index: number) => {
    if (job === null || job.head.id !== shared?.id) return;
    setTask(index);
    document.getElementById('proof')?.scrollIntoView({ behavior: 'smooth' });
  };
  return (
    <>
      <dl className="mt-8 grid grid-cols-2 gap-x-8 gap-y-6 sm:grid-cols-3 lg:grid-cols-5">
        <Stat label="Workers" value={board.workers.size.toLocaleString('en')} testId="worker-count" />
        <Stat label="Jobs running" value={board.jobsRunning.toLocaleString('en')} testId="job-count" />
        <Stat label="Tasks accepted" value={formatRate(rate)} unit="/s" hint="Over the last ten seconds" testId="throughput" />
        <Stat label="Lease to acceptance" value={median === null ? '–' : formatMs(median).split(' ')[0] ?? ''} {...(median === null ? {} : { unit: formatMs(median).split(' ')[1] ?? '' })} hint="Median of the last ten seconds" testId="latency" />
        <Stat label="A compute unit now" value={formatCredits(perUnit)} unit="cr" hint="One second at 1 TFLOP/s, for a new job" testId="price" />
      </dl>

      <section aria-labelledby="loom-title" className="mt-12 border-t border-line pt-8">
        <h2 id="loom-title" className="text-2xl font-semibold tracking-tight">
          On the loom
        </h2>
        {job === null ? (
          <p className="mt-3 max-w-prose text-soft">
            No job is running. Submit one with <code className="font-mono text-[0.9em] text-ink">weft submit</code> and its tasks show here.
          </p>
        ) : (
          <div className="mt-5 grid gap-x-10 gap-y-6 lg:grid-cols-[19rem_minmax(0,1fr)]">
            <JobList jobs={board.jobs} chosen={job.head.id} onChoose={setChosen} />
            <TaskGrid job={job} palette={palette} onTask={openTask} />
          </div>
        )}
      </section>

      <div className="mt-12 border-t border-line pt-8">
        <TopologyPanel board={board} palette={palette} />
      </div>

      <section aria-labelledby="time-title" className="mt-12 border-t border-line pt-8">
        <h2 id="time-title" className="text-2xl font-semibold tracking-tight">
          The last five minutes
        </h2>
        <div className="mt-5 grid gap-x-10 gap-y-8 md:grid-cols-3">
          <TimeChart title="Tasks a second" now={`${(last?.accepted ?? 0).toLocaleString('en')}/s`} rows={board.history} series={throughput} format={formatRate} />
          <TimeChart title="Lease to acceptance" now={median === null ? '–' : formatMs(median)} rows={board.history} series={latency} format={formatMs} />
          <TimeChart title="Price of a compute unit" now={`${formatCredits(perUnit)} cr`} rows={board.history} series={price} format={formatWhole} />
        </div>
        <Prices jobs={board.jobs} second={Math.floor(board.time / 1000)} />
      </section>

      <div className="mt-12 border-t border-line pt-8">
        {shared === null ? <Unshared /> : <SharedJobPanel base={base} shared={shared} task={task} onTask={setTask} />}
      </div>
      <div className="mt-12 border-t border-line pt-8">
        <LedgerPanel base={base} />
      </div>
    </>
  );
}

function Unshared() {
  return (
    <section aria-labelledby="proof-title">
      <h2 id="proof-title" className="text-2xl font-semibold tracking-tight">
        Receipts
      </h2>
      <p className="mt-2 max-w-prose text-soft">
        What a job computed is its owner’s. With the job’s link this page shows its outputs and checks each task’s receipts itself: <code className="font-mono text-[0.9em] text-ink">weft submit --share JOB</code> prints it, and so does the
        playground.
      </p>
    </section>
  );
}

const pricesShown = 6;

/** The price of the watched jobs: the measured units and the cost of one unit. */
const Prices = memo(
  PriceTable,
  (before, after) => before.second === after.second,  // The table is updated once a second.
);

function PriceTable({ jobs }: { jobs: Board['jobs']; second: number }) {
  const priced = jobs.filter((job) => job.head.price > 0).slice(0, pricesShown);
  if (priced.length === 0) return null;
  return (
    <div className="mt-8 overflow-x-auto" tabIndex={0} role="region" aria-label="Prices of jobs">
      <table className="w-full min-w-[34rem] text-left text-sm" data-testid="prices">
        <caption className="pb-1 text-left text-sm font-semibold text-soft">What {plural(priced.length, 'job')} cost, in credits</caption>
        <thead>
          <tr className="border-b border-line text-soft">
            {['Job', 'Units', 'A unit', 'A task', 'Price'].map((name, i) => (
              <th key={name} scope="col" className={`py-2 font-medium ${i === 0 ? '' : 'pl-3 text-right'}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {priced.map(({ head }) => (
            <tr key={head.id} className="border-b border-line">
              <th scope="row" className="py-1.5 font-mono font-normal" title={head.id}>
                {shorten(head.id, 8, 4)}
              </th>
              {[
                formatRate(head.units),
                head.units > 0 ? formatCredits(head.price / head.units) : '–',
                formatCredits(head.price / head.tasks),
                formatCredits(head.price),
              ].map((value, i) => (
                <td key={i} className="py-1.5 pl-3 text-right font-mono tabular-nums">
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
