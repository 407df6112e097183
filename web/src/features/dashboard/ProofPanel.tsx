// Checks one task in this page: its bytes, the Merkle path to the job's root, and the statements that its workers signed.
import { useEffect, useState, type FormEvent } from 'react';
import { Button } from '../../design/Button';
import { shorten } from '../../design/format';
import type { Proof } from '../../wire/api';
import type { SharedJob } from '../network/sharedJob';
import { fetchBlob, fetchProof, type Job } from './api';
import { check, type Check, type Checked, type Step } from './proof';

type Props = { base: string; shared: SharedJob; job: Job; index: number; onIndex: (index: number) => void };
type State = { readonly proof: Proof; readonly checked: Checked } | { readonly error: string } | null;

export function ProofPanel({ base, shared, job, index, onIndex }: Props) {
  const [text, setText] = useState(String(index));
  const [state, setState] = useState<State>(null);
  const [round, setRound] = useState(0);
  const { id, link } = shared;
  const ended = job.state !== 'running';
  useEffect(() => setText(String(index)), [index]);
  useEffect(() => {
    let current = true;
    setState(null);
    void (async () => {
      try {
        const proof = await fetchProof(base, { id, link }, index);
        const checked = await check(proof, (hash, receipt) => fetchBlob(base, { id, link }, hash, receipt));
        if (current) setState({ proof, checked });
      } catch (error) {
        if (current) setState({ error: error instanceof Error ? error.message : String(error) });
      }
    })();
    return () => {
      current = false;
    };
  }, [base, id, link, index, ended, round]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = Number(text);
    if (!Number.isInteger(wanted) || wanted < 0 || wanted >= job.tasks) return;
    if (wanted === index) setRound(round + 1);
    else onIndex(wanted);
  };
  return (
    <section aria-labelledby="proof-title" id="proof" className="scroll-mt-6">
      <h2 id="proof-title" className="text-2xl font-semibold tracking-tight">
        Receipts
      </h2>
      <p className="mt-2 max-w-prose text-soft">
        Nothing here asks you to believe the coordinator: this page hashes the bytes itself, climbs to the job’s root, and checks each worker’s signature.
      </p>
      <form onSubmit={submit} className="mt-4 flex flex-wrap items-end gap-3">
        <label className="text-sm text-soft">
          Task of <span className="text-ink">{job.name || shorten(job.id)}</span>
          <input
            className="mt-1 block w-32 rounded border border-line bg-panel px-3 py-1.5 font-mono text-ink tabular-nums"
            inputMode="numeric"
            value={text}
            onChange={(event) => setText(event.target.value)}
            aria-describedby="proof-range"
          />
        </label>
        <Button look="small" type="submit">
          Check
        </Button>
        <span id="proof-range" className="pb-1.5 text-sm text-soft">
          0 to {(job.tasks - 1).toLocaleString('en')}
        </span>
      </form>
      <div className="mt-5" aria-live="polite" data-testid="proof">
        {state === null ? (
          <p className="text-soft">Checking…</p>
        ) : 'error' in state ? (
          <p className="text-madder">{state.error}</p>
        ) : (
          <Result {...state} />
        )}
      </div>
    </section>
  );
}

function Result({ proof, checked }: { proof: Proof; checked: Checked }) {
  const wrong = checked.checks.some((one) => one.ok === false);
  return (
    <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
      <div className="min-w-0">
        <p className={`text-lg font-semibold ${wrong ? 'text-madder' : checked.ok ? 'text-leaf' : 'text-soft'}`} data-testid="proof-verdict">
          {wrong ? `Task ${proof.index} does not check out` : checked.ok ? `Task ${proof.index} checks out` : `Task ${proof.index} cannot be checked yet`}
        </p>
        <ul className="mt-3 space-y-3">
          {checked.checks.map((one) => (
            <CheckRow key={one.name} check={one} />
          ))}
        </ul>
        {checked.replicas.length > 0 ? (
          <table className="mt-5 w-full text-left text-sm">
            <caption className="sr-only">Receipts of task {proof.index}</caption>
            <thead>
              <tr className="border-b border-line text-soft">
                <th scope="col" className="py-2 font-medium">
                  Worker
                </th>
                <th scope="col" className="py-2 font-medium">
                  Receipt
                </th>
                <th scope="col" className="py-2 text-right font-medium">
                  Paid
                </th>
              </tr>
            </thead>
            <tbody>
              {checked.replicas.map((replica) => (
                <tr key={replica.worker} className="border-b border-line">
                  <th scope="row" className="py-1.5 font-mono font-normal" title={replica.worker}>
                    {shorten(replica.worker)}
                  </th>
                  <td className={`py-1.5 ${replica.ok ? '' : 'text-madder'}`} title={replica.receipt}>
                    {replica.detail}
                  </td>
                  <td className="py-1.5 text-right">{replica.agreed ? 'yes' : 'no'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : null}
      </div>
      <Path steps={checked.steps} proof={proof} />
    </div>
  );
}

const marks = { true: ['✓', 'text-leaf'], false: ['✗', 'text-madder'], null: ['·', 'text-soft'] } as const;

function CheckRow({ check: one }: { check: Check }) {
  const [mark, colour] = marks[String(one.ok) as keyof typeof marks];
  return (
    <li className="grid grid-cols-[1.25rem_1fr] gap-x-2">
      <span className={`font-semibold ${colour}`} aria-hidden="true">
        {mark}
      </span>
      <span>
        <span className="font-medium">{one.name}</span>
        <span className="sr-only">{one.ok === null ? ' (open)' : one.ok ? ' (holds)' : ' (does not hold)'}</span>
        <span className="block text-sm text-soft">{one.detail}</span>
      </span>
    </li>
  );
}

const row = 34;

/** The Merkle path: each step joins a hash with its sibling into the hash above. It is read from the bottom. */
function Path({ steps, proof }: { steps: readonly Step[]; proof: Proof }) {
  if (proof.root === '') return null;
  const height = (steps.length + 2) * row;
  const levels = [...steps].reverse();
  const at = (level: number) => height - row * (level + 1) + row / 2;
  return (
    <figure className="min-w-0">
      <figcaption className="text-sm font-semibold text-soft">Merkle path</figcaption>
      <svg viewBox={`0 0 400 ${height}`} className="mt-2 block w-full max-w-[28rem] font-mono" role="img" aria-label={`${steps.length} steps from the task’s root to the job’s. The list below has their hashes.`}>
        {steps.map((step, level) => (
          <g key={level} fill="none" strokeWidth="5" strokeLinecap="round">
            <path d={`M${step.side === 'right' ? 290 : 110} ${at(level + 1) + 4}C${step.side === 'right' ? 290 : 110} ${at(level + 1) - 14} 200 ${at(level + 1) + 12} 200 ${at(level + 2) + 10}`} stroke="var(--warp-slack)" />
            <path d={`M200 ${at(level) - 8}V${at(level + 2) + 12}`} stroke="var(--dye-0)" />
          </g>
        ))}
        <Knot x={200} y={at(0)} hash={proof.root} name={`task ${proof.index}`} fill="var(--dye-0)" />
        {steps.map((step, level) => (
          <g key={level}>
            <Knot x={step.side === 'right' ? 290 : 110} y={at(level + 1)} hash={step.sibling} name="" fill="var(--warp-slack)" end={step.side === 'left'} />
          </g>
        ))}
        {proof.job_root === '' ? null : <Knot x={200} y={at(steps.length + 1)} hash={proof.job_root} name="job" fill="var(--warp)" />}
      </svg>
      <details className="mt-2 text-sm text-soft">
        <summary className="rounded hover:text-ink">As a list, from the top</summary>
        <ol className="mt-2 space-y-1 font-mono text-xs break-all" reversed>
          {proof.job_root === '' ? null : <li>job {proof.job_root}</li>}
          {levels.map((step) => (
            <li key={step.hash}>
              {step.side} {step.sibling}
            </li>
          ))}
          <li>task {proof.root}</li>
        </ol>
      </details>
    </figure>
  );
}

function Knot({ x, y, hash, name, fill, end = false }: { x: number; y: number; hash: string; name: string; fill: string; end?: boolean }) {
  return (
    <g>
      <circle cx={x} cy={y} r="7" fill={fill} stroke="var(--ground)" strokeWidth="2.5" />
      <text x={end ? x - 14 : x + 14} y={y + 4} fontSize="12" textAnchor={end ? 'end' : 'start'} fill={name === '' ? 'var(--ink-soft)' : 'var(--ink)'}>
        {name === '' ? '' : `${name} `}
        {hash.slice(0, 8)}…
      </text>
    </g>
  );
}
