// The DevTools panel, which lies over every page and shows what the selected engine does with its GPU. It reads the counters twice a second
// while it is open; timelines and GPU clocks are on only during that time.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import { scaleLinear } from 'd3-scale';
import { Button } from '../../design/Button';
import { formatBytes, formatPrefixed, formatSeconds, plural } from '../../design/format';
import { gpuSources, type GpuCounters, type GpuSource, type Roofs } from '../../engine/gpuCounters';
import { kernelRows, laneHints, laneNames, laneUse, memoryByPurpose, type LaneUse, type PurposeRow } from './measures';
import { Roofline } from './Roofline';

const everyMs = 500;
const windowMs = 10_000;

type Props = { readonly wish: string; readonly onClose: () => void };

export function DevTools({ wish, onClose }: Props) {
  const sources = useSyncExternalStore(gpuSources.subscribe, gpuSources.snapshot);
  const [chosen, setChosen] = useState<string | null>(null);
  const source = sources.find((one) => one.name === (chosen ?? wish)) ?? sources[0];
  const counters = useCounters(source);
  const close = useCallback(() => onClose(), [onClose]);
  useEffect(() => setChosen(null), [wish]);
  // Adds space to the page, so that its end can be scrolled above the panel.
  useEffect(() => {
    document.body.style.paddingBottom = '46dvh';
    return () => {
      document.body.style.paddingBottom = '';
    };
  }, []);
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus({ preventScroll: true }), []);
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-label="DevTools"
      data-testid="devtools"
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
      className="fixed inset-x-0 bottom-0 outline-none z-30 flex h-[46dvh] min-h-72 flex-col border-t-2 border-beam bg-panel shadow-[0_-8px_32px_rgb(0_0_0/0.18)]"
    >
      <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-5 py-2 sm:gap-x-5 sm:px-8">
          <h2 className="text-sm font-semibold">DevTools</h2>
          <div role="group" aria-label="Engine in view" className="flex gap-1">
            {sources.map((one) => (
              <button
                key={one.name}
                type="button"
                aria-pressed={one === source}
                onClick={() => setChosen(one.name)}
                className="rounded px-2.5 py-1 text-sm text-soft hover:text-ink aria-pressed:bg-sunk aria-pressed:text-ink"
              >
                {one.name}
              </button>
            ))}
          </div>
        {counters !== null ? <Totals counters={counters} /> : null}
        <Button look="small" className="ml-auto" onClick={close}>
          Close
        </Button>
      </header>
      <div className="min-h-0 flex-1 overflow-auto px-5 py-4 sm:px-8" tabIndex={0} role="region" aria-label="Measurements">
        {source === undefined || counters === null ? (
          <p className="py-8 text-center text-soft">Nothing is loaded here yet: {source?.name === 'Playground' ? 'run a program' : source?.name === 'Contribute' ? 'start contributing' : 'open a model'}, and its GPU shows.</p>
        ) : (
          <div className="grid gap-x-10 gap-y-7 md:grid-cols-2 xl:grid-cols-3">
            <div className="min-w-0 space-y-7">
              <Lanes counters={counters} />
              <Transfers counters={counters} />
            </div>
            <div className="min-w-0 space-y-7">
              <Kernels counters={counters} />
              {source.roofs ? <Memory counters={counters} /> : null}
            </div>
            {source.roofs ? <RooflinePart key={source.name} source={source} /> : <Memory counters={counters} />}
          </div>
        )}
      </div>
    </section>
  );
}

function useCounters(source: GpuSource | undefined): GpuCounters | null {
  const [counters, setCounters] = useState<GpuCounters | null>(null);
  useEffect(() => {
    setCounters(null);
    if (source === undefined) return undefined;
    let open = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const found = await source.counters(true).catch(() => null);
      if (!open) return;
      setCounters(found);
      timer = setTimeout(() => void ask(), everyMs);
    };
    void ask();
    return () => {
      open = false;
      clearTimeout(timer);
      void source.counters(false).catch(() => null);
    };
  }, [source]);
  return counters;
}

function Part({ title, note, children, testId }: { title: string; note?: string; children: ReactNode; testId?: string }) {
  return (
    <section aria-label={title} data-testid={testId}>
      <h3 className="mb-2 flex flex-wrap items-baseline justify-between gap-x-3 text-sm font-semibold">
        {title}
        {note ? <span className="text-xs font-normal text-soft">{note}</span> : null}
      </h3>
      {children}
    </section>
  );
}

function Totals({ counters }: { counters: GpuCounters }) {
  const { totals } = counters;
  return (
    <p className="order-last w-full font-mono text-xs text-soft md:order-none md:w-auto" data-testid="devtools-totals" data-dispatches={totals.dispatches}>
      {plural(totals.dispatches, 'dispatch', 'dispatches')} · {plural(totals.submits, 'submit')} · {formatBytes(counters.bytes)} in buffers
    </p>
  );
}

function Lanes({ counters }: { counters: GpuCounters }) {
  const x = scaleLinear([counters.now - windowMs, counters.now], [0, 1000]);
  return (
    <Part title="Queue lanes" note={`the last ${windowMs / 1000} s`} testId="lanes">
      <ul className="space-y-1.5">
        {laneUse(counters, windowMs).map((use) => (
          <LaneRow key={use.lane} use={use} x={x} />
        ))}
      </ul>
    </Part>
  );
}

function LaneRow({ use, x }: { use: LaneUse; x: (at: number) => number }) {
  return (
    <li className="grid grid-cols-[5rem_1fr_3rem] items-center gap-3 text-sm" title={laneHints[use.lane]}>
      <span>{laneNames[use.lane]}</span>
      <svg viewBox="0 0 1000 16" preserveAspectRatio="none" className="block h-4 w-full rounded-sm bg-sunk" aria-hidden="true">
        {use.spans.map((span, i) => {
          const from = Math.max(0, x(span.from));
          return <rect key={i} x={from} width={Math.max(2.5, x(span.to) - from)} height="16" fill={use.lane === 'queue' ? 'var(--weld)' : 'var(--warp)'} />;
        })}
      </svg>
      <span className="text-right font-mono text-xs tabular-nums">{use.share > 0 && use.share < 0.01 ? '<1' : Math.round(use.share * 100)} %</span>
    </li>
  );
}

const cell = 'py-1 pl-4 text-right font-mono text-xs tabular-nums whitespace-nowrap';
const head = 'pb-1 pl-4 text-right text-xs font-normal text-soft whitespace-nowrap';

function Kernels({ counters }: { counters: GpuCounters }) {
  const rows = kernelRows(counters);
  const note = counters.timestamps === false ? 'no timestamp queries here: counted, not timed' : counters.timestamps === null ? '' : "GPU's own clock, as coarse as the browser makes it";
  return (
    <Part title="Kernels" note={note} testId="kernels">
      {rows.length === 0 ? (
        <p className="text-sm text-soft">Nothing was dispatched yet.</p>
      ) : (
        <table className="w-full table-fixed">
          <thead>
            <tr>
              <th scope="col" className="pb-1 text-left text-xs font-normal text-soft">
                Kernel
              </th>
              <th scope="col" className={`${head} w-22`}>
                Dispatches
              </th>
              <th scope="col" className={`${head} w-18`}>
                Each
              </th>
              <th scope="col" className={`${head} w-18`}>
                In all
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 12).map((row) => (
              <tr key={row.name} className="border-t border-line">
                <th scope="row" className="truncate py-1 text-left font-mono text-xs font-normal" title={row.name}>
                  {row.name}
                </th>
                <td className={cell}>{row.dispatches.toLocaleString('en')}</td>
                <td className={cell}>{row.secondsEach === null ? '–' : formatSeconds(row.secondsEach)}</td>
                <td className={cell}>{row.seconds === null ? '–' : formatSeconds(row.seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rows.length > 12 ? <p className="mt-1 text-xs text-soft">and {plural(rows.length - 12, 'other')}</p> : null}
    </Part>
  );
}

function Transfers({ counters }: { counters: GpuCounters }) {
  const { totals } = counters;
  const recent = counters.spans.filter((span) => span.lane === 'read' && span.to > counters.now - windowMs);
  const latest = recent.at(-1);
  const rows: readonly (readonly [string, number, number, string])[] = [
    ['Written', totals.writes, totals.writtenBytes, ''],
    ['Copied on the GPU', totals.copies, totals.copiedBytes, ''],
    ['Read back', totals.reads, totals.readBytes, totals.reads > 0 ? `${formatSeconds(totals.readSeconds / totals.reads)} on average` : ''],
  ];
  return (
    <Part title="Transfers" {...(latest ? { note: `the last read took ${formatSeconds((latest.to - latest.from) / 1000)}, the work before it included` } : {})} testId="transfers">
      <table className="w-full">
        <thead className="sr-only">
          <tr>
            <th scope="col">Direction</th>
            <th scope="col">Count</th>
            <th scope="col">Bytes</th>
            <th scope="col">Latency</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, count, bytes, latency]) => (
            <tr key={name} className="border-t border-line first:border-t-0">
              <th scope="row" className="py-1 text-left text-sm font-normal">
                {name}
              </th>
              <td className={cell}>{count.toLocaleString('en')}</td>
              <td className={cell}>{formatBytes(bytes)}</td>
              <td className={cell}>{latency}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

const threads = ['var(--warp)', 'var(--dye-2)', 'var(--dye-0)', 'var(--dye-3)', 'var(--dye-1)'];

function Memory({ counters }: { counters: GpuCounters }) {
  const purposes = memoryByPurpose(counters);
  const x = scaleLinear([0, Math.max(1, ...purposes.map((purpose) => purpose.bytesPeak))], [0, 1000]);
  return (
    <Part title="Buffer memory" note={`${formatBytes(counters.bytes)} now, ${formatBytes(counters.bytesPeak)} at most`} testId="memory">
      <ul className="text-sm">
        {purposes.map((purpose, i) => (
          <MemoryRow key={purpose.name} purpose={purpose} colour={threads[i % threads.length] ?? ''} x={x} />
        ))}
      </ul>
    </Part>
  );
}

/** The solid bar shows the bytes that a purpose has now; the pale bar behind it shows the most that it has had. */
function MemoryRow({ purpose, colour, x }: { purpose: PurposeRow; colour: string; x: (bytes: number) => number }) {
  const named = purpose.labels.map((one) => `${one.label || 'unnamed'}: ${formatBytes(one.bytes)}`).join('\n');
  return (
    <li className="grid grid-cols-[5rem_1fr_8.5rem] items-center gap-3 py-0.5" title={named}>
      <span className="first-letter:uppercase">{purpose.name}</span>
      <svg viewBox="0 0 1000 16" preserveAspectRatio="none" className="block h-3 w-full" aria-hidden="true">
        <rect width={Math.max(3, x(purpose.bytesPeak))} height="16" fill={colour} opacity="0.28" />
        <rect width={x(purpose.bytes)} height="16" fill={colour} />
      </svg>
      <span className="text-right font-mono text-xs tabular-nums whitespace-nowrap">
        {formatBytes(purpose.bytes)} <span className="text-soft">of {formatBytes(purpose.bytesPeak)}</span>
      </span>
    </li>
  );
}

function RooflinePart({ source }: { source: GpuSource }) {
  const [roofs, setRoofs] = useState<Roofs | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    if (source.roofsAreKnown) {
      void source.roofs?.().then((found) => {
        if (current) setRoofs(found);
      });
    }
    return () => {
      current = false;
    };
  }, [source]);
  if (source.roofs === undefined) return null;
  const runs = source.runs?.() ?? [];
  const unknown = runs.filter((run) => run.operations === null);
  const measure = () => {
    setSaid('Measuring…');
    source.roofs?.().then(
      (found) => {
        setRoofs(found);
        setSaid(found === null ? 'The roofs are not measured yet.' : null);
      },
      (error: unknown) => setSaid(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <Part title="Roofline" note="bytes by the manifest, operations as declared">
      {roofs === null ? (
        <div className="grid min-h-40 place-items-center rounded border border-dashed border-line p-5 text-center text-sm text-soft">
          <div>
            <p className="max-w-[36ch]">The roofs are this device's copy bandwidth and arithmetic rate. Measuring keeps it busy for a moment.</p>
            <Button look="small" className="mt-3" onClick={measure} disabled={said === 'Measuring…'}>
              Measure the roofs
            </Button>
            {said !== null ? (
              <p role="status" className="mt-2">
                {said}
              </p>
            ) : null}
          </div>
        </div>
      ) : (
        <Roofline roofs={roofs} runs={runs} />
      )}
      {unknown.length > 0 ? (
        <p className="mt-2 text-sm text-soft">
          {unknown[0]?.name} moved {formatPrefixed((unknown[0]?.bytes ?? 0) / (unknown[0]?.seconds ?? 1), 'B/s')} of its inputs and outputs; its operations are not declared, so it has no place on the plot.
        </p>
      ) : null}
    </Part>
  );
}
