// Shows the connected workers as a drawing, which a separate Worker makes (see topology.ts), and as a table with the same facts.
import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { formatRate, plural, shorten } from '../../design/format';
import { Swatch } from '../../weave/Swatch';
import type { Board, BoardWorker } from './board';
import type { Palette } from './palette';
import { columns } from './topology';
import type { FromTopology, ToTopology } from './topologyWorker';

export const loadOf = (worker: BoardWorker) => (worker.slots === 0 ? 0 : worker.held / worker.slots);
export const formatRoundTrip = (ms: number) => (ms < 0 ? '…' : ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms).toLocaleString('en')} ms`);

function rowsOf(workers: ReadonlyMap<number, BoardWorker>): Float64Array {
  const rows = new Float64Array(workers.size * columns);
  let at = 0;
  for (const worker of workers.values()) {
    rows[at] = worker.number;
    rows[at + 1] = worker.roundTripMs;
    rows[at + 2] = loadOf(worker);
    rows[at + 3] = worker.kind === 'browser' ? 1 : 0;
    at += columns;
  }
  return rows;
}

export function TopologyPanel({ board, palette }: { board: Board; palette: Palette }) {
  const [pointed, setPointed] = useState<number | null>(null);
  const worker = pointed === null ? undefined : board.workers.get(pointed);
  return (
    <section aria-labelledby="topology-title">
      <h2 id="topology-title" className="text-2xl font-semibold tracking-tight">
        Workers
      </h2>
      <div className="mt-5 grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
        <div>
          {'OffscreenCanvas' in window ? (
            <Drawing board={board} palette={palette} pointed={pointed} onPoint={setPointed} />
          ) : (
            <p className="text-soft">This browser cannot draw off the page’s thread; the table has everything.</p>
          )}
          <p className="mt-2 min-h-12 text-sm text-soft" data-testid="worker-pointed">
            {worker ? <Words worker={worker} /> : 'A thread’s length is the round trip, on a logarithmic scale; the colour is the load, from undyed (idle) to yellow (busy).'}
          </p>
        </div>
        <WorkerTable board={board} pointed={pointed} onPoint={setPointed} />
      </div>
    </section>
  );
}

function Words({ worker }: { worker: BoardWorker }) {
  return (
    <>
      <span className="font-mono text-ink">{shorten(worker.key)}</span> {worker.kind}, {worker.device === 'gpu' ? worker.description || 'GPU' : 'CPU kernels'}: holds{' '}
      {worker.held} of {worker.slots}, {formatRoundTrip(worker.roundTripMs)}, {plural(worker.accepted, 'task')} accepted
    </>
  );
}

type DrawingProps = { board: Board; palette: Palette; pointed: number | null; onPoint: (number: number | null) => void };

function Drawing({ board, palette, pointed, onPoint }: DrawingProps) {
  const place = useRef<HTMLDivElement>(null);
  const worker = useRef<Worker | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [drawn, setDrawn] = useState({ workers: -1, settled: false });
  const { workers, workersVersion } = board;

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    // Each mount makes a new canvas, because a canvas can be transferred only once.
    const canvas = document.createElement('canvas');
    canvas.className = 'absolute inset-0 size-full';
    canvas.setAttribute('aria-hidden', 'true');
    element.append(canvas);
    const made = new Worker(new URL('./topologyWorker.ts', import.meta.url), { type: 'module', name: 'weft-topology' });
    const offscreen = canvas.transferControlToOffscreen();
    made.postMessage({ say: 'start', canvas: offscreen } satisfies ToTopology, [offscreen]);
    made.onmessage = ({ data }: MessageEvent<FromTopology>) => {
      if (data.say === 'pointed') onPoint(data.number);
      else setDrawn(data);
    };
    worker.current = made;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.terminate();
      worker.current = null;
      canvas.remove();
    };
  }, [onPoint]);

  const say = (message: ToTopology, hand: Transferable[] = []) => worker.current?.postMessage(message, hand);
  useEffect(() => {
    say({ say: 'look', view: { ...size, ratio: window.devicePixelRatio }, palette });
  }, [size, palette]);
  useEffect(() => {
    const rows = rowsOf(workers);
    say({ say: 'workers', rows }, [rows.buffer]);
  }, [workers, workersVersion]);
  useEffect(() => say({ say: 'mark', number: pointed }), [pointed]);

  return (
    <div
      ref={place}
      role="img"
      aria-label={`The coordinator in the middle of ${plural(workers.size, 'worker')}. The table beside it lists them.`}
      className="relative h-[22rem] cursor-crosshair sm:h-[26rem]"
      data-testid="topology"
      data-workers={drawn.workers}
      data-settled={drawn.settled}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        say({ say: 'point', x: event.clientX - box.left, y: event.clientY - box.top });
      }}
      onPointerLeave={() => onPoint(null)}
    />
  );
}

type Order = 'held' | 'roundTripMs' | 'rate' | 'accepted';
const orders: Record<Order, string> = { held: 'Load', roundTripMs: 'Round trip', rate: 'Rate', accepted: 'Accepted' };
const shown = 8;
const hidden: Partial<Record<Order, string>> = { rate: 'hidden sm:table-cell' };

function compare(order: Order): (a: BoardWorker, b: BoardWorker) => number {
  if (order === 'held') return (a, b) => loadOf(b) - loadOf(a) || b.held - a.held || a.number - b.number;
  if (order === 'roundTripMs') return (a, b) => a.roundTripMs - b.roundTripMs || a.number - b.number;
  return (a, b) => b[order] - a[order] || a.number - b.number;
}

function WorkerTable({ board, pointed, onPoint }: { board: Board; pointed: number | null; onPoint: (number: number | null) => void }) {
  const [order, setOrder] = useState<Order>('accepted');
  const [page, setPage] = useState(0);
  // The rows are sorted at most once a second, because rows that move four times a second cannot be read.
  const second = Math.floor(board.time / 1000);
  const sorted = useMemo(() => [...board.workers.values()].sort(compare(order)), [second, order, board.workers, board.workers.size]);
  const pages = Math.max(1, Math.ceil(sorted.length / shown));
  const at = Math.min(page, pages - 1);
  const rows = sorted.slice(at * shown, (at + 1) * shown).map((worker) => board.workers.get(worker.number) ?? worker);
  return (
    <div className="min-w-0">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">{plural(board.workers.size, 'connected worker')}</caption>
        <thead>
          <tr className="border-b border-line text-soft">
            <th scope="col" className="py-2 pr-3 font-medium">
              Worker
            </th>
            {(Object.keys(orders) as Order[]).map((one) => (
              <th key={one} scope="col" aria-sort={one === order ? (one === 'roundTripMs' ? 'ascending' : 'descending') : 'none'} className={`py-2 pl-3 text-right sm:pl-4 font-medium whitespace-nowrap ${hidden[one] ?? ''}`}>
                <button type="button" className={`rounded hover:text-ink ${one === order ? 'text-ink underline decoration-weld decoration-2 underline-offset-4' : ''}`} onClick={() => setOrder(one)}>
                  {orders[one]}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody data-testid="workers">
          {rows.map((worker) => (
            <WorkerRow key={worker.number} worker={worker} pointed={worker.number === pointed} onPoint={onPoint} />
          ))}
        </tbody>
      </table>
      {board.workers.size === 0 ? <p className="mt-3 text-soft">No workers are connected. A tab of the first page, or weft work, can be the first.</p> : null}
      {pages > 1 ? (
        <nav aria-label="Pages of workers" className="mt-3 flex items-center justify-between text-sm">
          <button type="button" className="rounded px-2 py-1 text-soft hover:text-ink disabled:opacity-40" disabled={at === 0} onClick={() => setPage(at - 1)}>
            Before
          </button>
          <span className="font-mono text-soft tabular-nums">
            {(at * shown + 1).toLocaleString('en')}–{Math.min(sorted.length, (at + 1) * shown).toLocaleString('en')} of {sorted.length.toLocaleString('en')}
          </span>
          <button type="button" className="rounded px-2 py-1 text-soft hover:text-ink disabled:opacity-40" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            After
          </button>
        </nav>
      ) : null}
    </div>
  );
}

type RowProps = { worker: BoardWorker; pointed: boolean; onPoint: (number: number | null) => void };

/** A row of the table. A worker that has not changed is the same object, so that its row is not drawn again. */
const WorkerRow = memo(function WorkerRow({ worker, pointed, onPoint }: RowProps) {
  return (
    <tr className={`border-b border-line ${pointed ? 'bg-panel' : ''}`} onPointerEnter={() => onPoint(worker.number)} onPointerLeave={() => onPoint(null)}>
      <th scope="row" className="w-full max-w-0 py-2 pr-3 font-normal">
        <span className="flex items-center gap-2.5">
          <Swatch seed={worker.key} className="size-7 shrink-0 rounded-sm" />
          <span className="min-w-0">
            <span className="block truncate font-mono" title={worker.key}>
              {shorten(worker.key)}
            </span>
            <span className="block truncate text-xs text-soft" title={worker.description}>
              {worker.kind}, {worker.device === 'gpu' ? worker.description || 'GPU' : 'CPU kernels'}
            </span>
          </span>
        </span>
      </th>
      <td className="py-2 pl-3 text-right sm:pl-4 font-mono tabular-nums">
        {worker.held}/{worker.slots}
      </td>
      <td className="py-2 pl-3 text-right sm:pl-4 font-mono whitespace-nowrap tabular-nums">{formatRoundTrip(worker.roundTripMs)}</td>
      <td className="hidden py-2 pl-3 text-right sm:pl-4 font-mono tabular-nums sm:table-cell" title="Relative to 1 TFLOP/s, as measured by its tasks">
        {formatRate(worker.rate)}
      </td>
      <td className="py-2 pl-3 text-right sm:pl-4 font-mono tabular-nums">
        {worker.accepted.toLocaleString('en')}
        {worker.refused > 0 ? <span className="text-madder"> −{worker.refused.toLocaleString('en')}</span> : null}
      </td>
    </tr>
  );
});
