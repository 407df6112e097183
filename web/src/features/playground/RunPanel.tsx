// Shows the result and the time of the latest run beside the editor.
import { Notice } from '../../design/Notice';
import { formatSeconds, plural, prefixed } from '../../design/format';
import { Stat } from '../../design/Stat';
import { bytesMoved, operationsOf } from './program';
import { ResultView } from './ResultView';
import type { Machine, Ran, Running } from './usePlayground';

type Props = { readonly machine: Machine; readonly running: Running; readonly ran: Ran | null };

export function RunPanel({ machine, running, ran }: Props) {
  return (
    <section aria-label="Result" className="min-w-0">
      {machine.state === 'none' ? <NoGpu machine={machine} /> : null}
      {running.state === 'failed' ? (
        <Notice tone="warn" title="It did not run" className="mb-5">
          <p className="font-mono text-sm break-words" data-testid="run-error">
            {running.message}
          </p>
        </Notice>
      ) : null}
      {ran === null ? machine.state === 'none' ? null : <Empty running={running.state === 'running'} /> : <Shown ran={ran} stale={running.state === 'running'} />}
    </section>
  );
}

function NoGpu({ machine }: { machine: Extract<Machine, { state: 'none' }> }) {
  return (
    <div data-testid="no-gpu">
      <Notice title={machine.missing ? 'The engine is not on this server' : 'Nothing can run here without WebGPU'} className="mb-5">
        <p>
          {machine.why}{' '}
          {machine.missing
            ? 'The operator of the coordinator builds it with ./weft build.'
            : 'The program can still be written, shared, and handed in as a job for the workers on the loom.'}
        </p>
      </Notice>
    </div>
  );
}

function Empty({ running }: { running: boolean }) {
  return (
    <div className="grid min-h-64 place-items-center rounded-md border border-dashed border-line px-6 py-10 text-center lg:min-h-[26rem]">
      <p className="max-w-[34ch] text-soft">
        {running ? 'Running on this machine…' : 'Run the program, and its outputs show here as an image, a plot or numbers, with the time that the GPU took.'}
      </p>
    </div>
  );
}

function Shown({ ran, stale }: { ran: Ran; stale: boolean }) {
  const { run, program } = ran;
  const bandwidth = prefixed(bytesMoved(program) / run.gpuSeconds);
  const operations = operationsOf(program);
  const rate = operations === null ? null : prefixed(operations / run.gpuSeconds);
  return (
    <div className={stale ? 'opacity-60 transition-opacity' : ''} aria-busy={stale}>
      <dl className="mb-5 grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-3" data-testid="timing" data-by={run.byTimestamps ? 'timestamps' : 'wall'}>
        <Stat
          label={run.byTimestamps ? 'Time, GPU clock' : 'Time, wall clock'}
          value={formatSeconds(run.gpuSeconds)}
          hint={`${plural(run.dispatches, 'dispatch', 'dispatches')} in ${plural(run.tasks, 'task')}`}
        />
        {rate === null ? (
          <Stat label={`Wall time, ${plural(run.tasks, 'task')}`} value={formatSeconds(run.wallSeconds)} />
        ) : (
          <Stat label="As declared" value={rate.value} unit={`${rate.prefix}op/s`} />
        )}
        <Stat label="Inputs and outputs" value={bandwidth.value} unit={`${bandwidth.prefix}B/s`} />
      </dl>
      <ResultView key={run.root} outputs={run.outputs} wish={program.view} title={program.name} />
    </div>
  );
}
