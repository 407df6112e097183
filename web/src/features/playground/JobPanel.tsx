// Turns the program into a job with one click: the job is signed by this browser's wallet, submitted and followed, and its result is shown.
import { useEffect, useImperativeHandle, useRef, useState, type Ref } from 'react';
import { Button } from '../../design/Button';
import { formatCredits, plural, shorten } from '../../design/format';
import type { Lab } from '../../engine/lab';
import type { LabOutput } from '../../engine/labMessages';
import { sharedJobAddress } from '../network/sharedJob';
import { NumberField } from './fields';
import { job as fetchJob, output as fetchOutput, submit, type Job } from './jobs';
import { toManifest, type Program } from './program';
import { ResultView } from './ResultView';

type State =
  | { readonly at: 'idle' }
  | { readonly at: 'signing' }
  | { readonly at: 'handed-in'; readonly id: string; readonly link: string; readonly client: string; readonly program: Program; readonly job: Job | null; readonly outputs: readonly LabOutput[] | null }
  | { readonly at: 'refused'; readonly message: string };

/** For the button beside Run: submits the job and shows its progress. */
export type JobHandle = { submit(): void };

type Props = { readonly handle?: Ref<JobHandle>; readonly lab: Lab; readonly base: string; readonly program: Program; readonly ready: boolean; readonly onChange: (program: Program) => void };

const pollMs = 400;
const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function JobPanel({ handle, lab, base, program, ready, onChange }: Props) {
  const [state, setState] = useState<State>({ at: 'idle' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const turn = useRef(0);
  const place = useRef<HTMLElement>(null);
  const id = state.at === 'handed-in' ? state.id : null;

  const hand = () => {
    const mine = (turn.current += 1);
    setState({ at: 'signing' });
    setTrouble(null);
    submit(lab, base, toManifest(program)).then(
      (submitted) => {
        if (turn.current === mine) setState({ at: 'handed-in', id: submitted.id, link: submitted.link, client: submitted.client, program, job: null, outputs: null });
      },
      (error: unknown) => {
        if (turn.current === mine) setState({ at: 'refused', message: sentence(error) });
      },
    );
  };

  useImperativeHandle(handle, () => ({
    submit: () => {
      if (state.at !== 'signing') hand();
      place.current?.scrollIntoView({ block: 'center', behavior: 'smooth' });
    },
  }));

  useEffect(() => {
    if (id === null) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        const job = await fetchJob(lab, base, id, stop.signal);
        setTrouble(null);
        setState((before) => (before.at === 'handed-in' ? { ...before, job } : before));
        if (hasResults(job)) {
          const outputs = await Promise.all(
            job.outputs.map(async ({ name, type, shape }, i): Promise<LabOutput> => ({ name, type, shape, bytes: await fetchOutput(lab, base, id, i) })),
          );
          if (!stop.signal.aborted) setState((before) => (before.at === 'handed-in' ? { ...before, outputs } : before));
        }
        if (job.state !== 'running') return;
      } catch (error) {
        if (stop.signal.aborted) return;
        setTrouble(sentence(error));
      }
      timer = setTimeout(() => void look(), pollMs);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [lab, base, id]);

  return (
    <section ref={place} aria-labelledby="job-title" data-testid="job-panel">
      <h2 id="job-title" className="text-lg font-semibold tracking-tight">
        As a job
      </h2>
      <p className="mt-1 max-w-prose text-sm text-soft">
        Signed with this browser's wallet and cut into {plural(program.split.tasks, 'task')} for the workers on the loom. What it does not cost returns.
      </p>
      <div className="mt-3 flex flex-wrap items-end gap-2">
        <NumberField className="w-28" label="Budget in credits" value={program.budget} onChange={(budget) => onChange({ ...program, budget })} />
        <NumberField className="w-24" label="Replicas" value={program.verify.replicas} whole onChange={(replicas) => onChange({ ...program, verify: { ...program.verify, replicas } })} />
        <Button look="small" className="h-9" onClick={hand} disabled={!ready || state.at === 'signing'}>
          {state.at === 'signing' ? 'Signing…' : 'Submit the job'}
        </Button>
      </div>
      {state.at === 'refused' ? (
        <p role="alert" className="mt-3 text-sm text-madder">
          {state.message}
        </p>
      ) : null}
      {state.at === 'handed-in' ? <Progress base={base} state={state} trouble={trouble} /> : null}
    </section>
  );
}

/** True for a job with results. A corrected job was done, and its wrong results were replaced. */
const hasResults = (job: Job): boolean => job.state === 'done' || job.state === 'corrected';

const colours: Record<string, string> = { done: 'text-leaf', corrected: 'text-leaf', failed: 'text-madder', cancelled: 'text-madder' };

function Progress({ base, state, trouble }: { base: string; state: Extract<State, { at: 'handed-in' }>; trouble: string | null }) {
  const { job, outputs } = state;
  const share = job === null || job.tasks === 0 ? 0 : job.accepted / job.tasks;
  return (
    <div className="mt-4" data-testid="job" data-state={job?.state ?? 'submitted'} data-job={state.id}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 text-sm">
        <p>
          <span className="font-mono text-xs" title={state.id}>
            {shorten(state.id, 8, 4)}
          </span>{' '}
          <span className="text-soft">by {shorten(state.client)}</span>
        </p>
        <p className={colours[job?.state ?? ''] ?? 'text-soft'} role="status">
          {job === null ? 'handed in' : job.state === 'running' ? `${job.accepted} of ${job.tasks} accepted, ${job.leased} under way` : `${job.state}, ${job.accepted} of ${job.tasks} accepted`}
        </p>
      </div>
      <svg viewBox="0 0 100 2" preserveAspectRatio="none" className="mt-2 block h-2 w-full overflow-hidden rounded-full bg-sunk" aria-hidden="true">
        <rect width={share * 100} height="2" fill={job !== null && hasResults(job) ? 'var(--leaf)' : 'var(--warp)'} />
      </svg>
      {job?.reason ? <p className="mt-2 text-sm text-madder">{job.reason}</p> : null}
      {job !== null && hasResults(job) ? <p className="mt-2 text-sm text-soft">Its price was {formatCredits(job.price)} credits; the rest of the escrow is back.</p> : null}
      {job?.state === 'running' && job.leased === 0 ? <p className="mt-2 text-sm text-soft">{job.waiting?.detail || 'Waiting for a worker to take it.'}</p> : null}
      {trouble !== null ? <p className="mt-2 text-sm text-madder">{trouble}</p> : null}
      <p className="mt-2 text-sm">
        <a href={sharedJobAddress(base, state)} target="_blank" rel="noreferrer" className="rounded underline decoration-line underline-offset-4 hover:decoration-ink">
          Its receipts
        </a>{' '}
        <span className="text-soft">Each reader of this address sees the job.</span>
      </p>
      {outputs !== null ? (
        <div className="mt-4">
          <ResultView outputs={outputs} wish={state.program.view} title={state.program.name} />
        </div>
      ) : null}
    </div>
  );
}
