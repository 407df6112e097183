// A live grid of one job's tasks, with the meaning of its colours and the number of tasks of each in words.
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { plural, shorten } from '../../design/format';
import type { BoardJob } from './board';
import { drawGrid, layoutOf, stateColours, taskAt, type Layout } from './grid';
import type { Palette } from './palette';
import { taskStates, type TaskState } from './tasks';

type Props = { job: BoardJob; palette: Palette; onTask: (index: number) => void };

const meanings: Record<TaskState, string> = {
  waiting: 'no worker has it yet',
  leased: 'a worker has it',
  checking: 'a result is being compared',
  accepted: 'agreed on and paid',
  refused: 'a result was refused, it is done again',
};

export function TaskGrid({ job, palette, onTask }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scratch = useRef<HTMLCanvasElement | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [pointed, setPointed] = useState<number | null>(null);
  const { tasks, head, version } = job;
  const layout = layoutOf(tasks.length, size.width, size.height, window.devicePixelRatio);

  useLayoutEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const measure = () => {
      const { width, height } = element.getBoundingClientRect();
      const ratio = window.devicePixelRatio;
      setSize({ width: Math.round(width * ratio), height: Math.round(height * ratio) });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = canvas.current;
    if (element === null || size.width === 0) return undefined;
    const frame = requestAnimationFrame(() => {
      if (element.width !== size.width) element.width = size.width;
      if (element.height !== size.height) element.height = size.height;
      const context = element.getContext('2d');
      scratch.current ??= document.createElement('canvas');
      if (context !== null) drawGrid(context, tasks, layoutOf(tasks.length, size.width, size.height, window.devicePixelRatio), palette, scratch.current);
    });
    return () => cancelAnimationFrame(frame);
  }, [tasks, version, size, palette]);

  const under = (event: PointerEvent<HTMLCanvasElement>): number | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const ratio = window.devicePixelRatio;
    return taskAt(layout, tasks.length, (event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio);
  };
  const walk = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: layout.columns, ArrowUp: -layout.columns };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setPointed(Math.max(0, Math.min(tasks.length - 1, pointed === null ? 0 : pointed + step)));
    } else if ((event.key === 'Enter' || event.key === ' ') && pointed !== null) {
      event.preventDefault();
      onTask(pointed);
    }
  };
  const words = taskStates.map((state, i) => `${head.counts[i] ?? 0} ${state}`).join(', ');

  return (
    <div>
      {head.mapped ? (
        <div
          role="application"
          tabIndex={0}
          aria-roledescription="grid of tasks"
          aria-label={`Tasks of ${shorten(head.id, 8, 4)}: ${words}. Arrow keys move, Enter opens a task’s proof.`}
          onKeyDown={walk}
          className="relative h-64 sm:h-80"
          data-testid="task-grid"
        >
          <canvas
            ref={canvas}
            aria-hidden="true"
            className="absolute inset-0 size-full cursor-crosshair"
            onPointerMove={(event) => setPointed(under(event))}
            onPointerLeave={() => setPointed(null)}
            onClick={(event) => {
              const task = under(event as unknown as PointerEvent<HTMLCanvasElement>);
              if (task !== null) onTask(task);
            }}
          />
          {pointed !== null && size.width > 0 ? <Marker layout={layout} task={pointed} /> : null}
        </div>
      ) : (
        <p className="flex h-40 items-center text-soft">Too many tasks are running to draw those of this job as well; the counts are below.</p>
      )}
      <p className="mt-2 h-6 font-mono text-sm tabular-nums text-soft" aria-live="polite" data-testid="pointed">
        {pointed === null ? plural(tasks.length, 'task') : `Task ${pointed.toLocaleString('en')}: ${taskStates[tasks[pointed] ?? 0] ?? ''}`}
      </p>
      <Legend job={job} />
    </div>
  );
}

function Marker({ layout, task }: { layout: Layout; task: number }) {
  const cell = layout.cell / window.devicePixelRatio;
  const x = (task % layout.columns) * cell;
  const y = Math.floor(task / layout.columns) * cell;
  const grow = Math.max(2, 5 - cell / 2);
  return (
    <svg className="pointer-events-none absolute inset-0 size-full overflow-visible" aria-hidden="true" focusable="false">
      <rect x={x - grow} y={y - grow} width={cell + 2 * grow} height={cell + 2 * grow} rx="3" fill="none" stroke="var(--ink)" strokeWidth="2" />
    </svg>
  );
}

function Legend({ job }: { job: BoardJob }) {
  return (
    <dl className="mt-1 flex flex-wrap gap-x-6 gap-y-2 text-sm">
      {taskStates.map((state, i) => (
        <div key={state} className="flex items-center gap-2" title={meanings[state]}>
          <svg viewBox="0 0 12 12" className="size-3" aria-hidden="true" focusable="false">
            <rect width="12" height="12" rx="3" fill={`var(--${stateColours[state]})`} stroke="var(--raw-deep)" strokeWidth={state === 'waiting' ? 1 : 0} />
          </svg>
          <dt className="text-soft">{state}</dt>
          <dd className="font-mono tabular-nums" data-testid={`count-${state}`}>
            {(job.head.counts[i] ?? 0).toLocaleString('en')}
          </dd>
        </div>
      ))}
    </dl>
  );
}
