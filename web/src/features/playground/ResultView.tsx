// Shows the result of a run as an image, a plot or numbers, and the cost of the run.
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { Button } from '../../design/Button';
import { formatBytes } from '../../design/format';
import type { LabOutput } from '../../engine/labMessages';
import { numbersOf } from './data';
import { formatNumber, isImage, pixelsOf, plotKindFor, plotKinds, plotOf, summaryOf, type Numbers, type PlotKind } from './drawing';
import { PlotView } from './PlotView';
import { views, type View } from './program';
import { Select } from './fields';

const names: Record<View, string> = { image: 'Image', plot: 'Plot', numbers: 'Numbers' };

type Props = { readonly outputs: readonly LabOutput[]; readonly wish: { readonly output: number; readonly as: View }; readonly title: string };

export function ResultView({ outputs, wish, title }: Props) {
  const [chosen, setChosen] = useState<number | null>(null);
  const [asked, setAsked] = useState<View | null>(null);
  const id = useId();
  const output = outputs[chosen ?? wish.output] ?? outputs[0];
  const numbers = useMemo(() => (output ? numbersOf(output.bytes, output.type) : new Float32Array()), [output]);
  if (output === undefined) return null;
  const possible = views.filter((view) => view !== 'image' || isImage(output.shape));
  const wanted = asked ?? wish.as;
  const view = possible.includes(wanted) ? wanted : 'plot';
  const move = (step: number) => {
    const next = possible[(possible.indexOf(view) + step + possible.length) % possible.length];
    if (next === undefined) return;
    setAsked(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <div data-testid="result">
      <div className="flex flex-wrap items-end justify-between gap-x-4 gap-y-2 border-b border-line">
        <div
          role="tablist"
          aria-label="How the result is shown"
          className="flex gap-5"
          onKeyDown={(event) => {
            if (event.key === 'ArrowRight') move(1);
            if (event.key === 'ArrowLeft') move(-1);
          }}
        >
          {possible.map((one) => (
            <button
              key={one}
              id={`${id}-${one}`}
              type="button"
              role="tab"
              aria-selected={one === view}
              aria-controls={`${id}-panel`}
              tabIndex={one === view ? 0 : -1}
              onClick={() => setAsked(one)}
              className="-mb-px border-b-2 border-transparent pb-2 text-sm font-medium text-soft hover:text-ink aria-selected:border-weld aria-selected:text-ink"
            >
              {names[one]}
            </button>
          ))}
        </div>
        <div className="flex items-center gap-3 pb-1.5 text-sm text-soft">
          {outputs.length > 1 ? (
            <Select
              label="Output"
              hidden
              value={String(outputs.indexOf(output))}
              options={outputs.map((one, i) => [String(i), one.name])}
              onChange={(value) => setChosen(Number(value))}
            />
          ) : null}
          <span className="font-mono text-xs">
            {output.type} {output.shape.join(' × ')}
          </span>
        </div>
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${view}`} className="pt-4">
        {view === 'image' ? <ImageView numbers={numbers} shape={output.shape} title={title} /> : null}
        {view === 'plot' ? <PlotPanel numbers={numbers} shape={output.shape} title={title} /> : null}
        {view === 'numbers' ? <NumbersView numbers={numbers} shape={output.shape} /> : null}
        <div className="mt-3 flex flex-wrap items-center justify-between gap-3 text-sm text-soft">
          <SummaryLine numbers={numbers} />
          <a
            className="underline decoration-line underline-offset-4 hover:text-ink hover:decoration-ink"
            href="#save"
            onClick={(event) => {
              event.preventDefault();
              save(output.bytes, `${title}.${output.name}.bin`);
            }}
          >
            Save {formatBytes(output.bytes.length)}
          </a>
        </div>
      </div>
    </div>
  );
}

export function save(content: BlobPart | Uint8Array, name: string): void {
  const url = URL.createObjectURL(new Blob([content as BlobPart]));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function SummaryLine({ numbers }: { numbers: Numbers }) {
  const { least, most, mean, strange } = useMemo(() => summaryOf(numbers), [numbers]);
  return (
    <p className="font-mono text-xs">
      min {formatNumber(least)} · mean {formatNumber(mean)} · max {formatNumber(most)}
      {strange > 0 ? <span className="text-madder"> · {strange.toLocaleString('en')} not finite</span> : null}
    </p>
  );
}

function ImageView({ numbers, shape, title }: { numbers: Numbers; shape: readonly number[]; title: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [height = 1, width = 1] = shape;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    context.putImageData(new ImageData(pixelsOf(numbers), width, height), 0, 0);
  }, [numbers, width, height]);
  return (
    <canvas
      ref={canvas}
      width={width}
      height={height}
      role="img"
      aria-label={`${title}: ${width} by ${height} values as colours, by rank`}
      className="block rounded-sm bg-sunk"
      style={{ imageRendering: width < 200 ? 'pixelated' : 'auto', aspectRatio: `${width} / ${height}`, width: `min(100%, ${(30 * width) / height}rem)` }}
    />
  );
}

const plotNames: Record<PlotKind, string> = { line: 'a line', points: 'points', histogram: 'a histogram' };

function PlotPanel({ numbers, shape, title }: { numbers: Numbers; shape: readonly number[]; title: string }) {
  const [asked, setAsked] = useState<PlotKind | null>(null);
  const kind = asked ?? plotKindFor(shape);
  const plot = useMemo(() => plotOf(numbers, shape, kind), [numbers, shape, kind]);
  return (
    <div>
      <div className="mb-2 flex items-center gap-2 text-sm text-soft">
        Drawn as
        <Select label="Drawn as" hidden value={kind} options={plotKinds.map((one) => [one, plotNames[one]])} onChange={(value) => setAsked(value as PlotKind)} />
      </div>
      <PlotView plot={plot} title={title} />
    </div>
  );
}

const cellsShown = 200;

function NumbersView({ numbers, shape }: { numbers: Numbers; shape: readonly number[] }) {
  const [page, setPage] = useState(0);
  const columns = shape.length >= 2 && (shape.at(-1) ?? 1) <= 8 ? (shape.at(-1) ?? 1) : 8;
  const rowsEach = Math.floor(cellsShown / columns);
  const rows = Math.ceil(numbers.length / columns);
  const pages = Math.ceil(rows / rowsEach);
  const first = Math.min(page, pages - 1) * rowsEach;
  return (
    <div>
      <div className="max-h-[27rem] overflow-auto rounded border border-line" tabIndex={0} role="region" aria-label="Numbers of the result">
        <table className="w-full border-collapse font-mono text-[0.8rem] tabular-nums" data-testid="numbers">
          <thead className="sr-only">
            <tr>
              <th scope="col">Index</th>
              {Array.from({ length: columns }, (_, i) => (
                <th key={i} scope="col">
                  +{i}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: Math.min(rowsEach, rows - first) }, (_, i) => (first + i) * columns).map((at) => (
              <tr key={at} className="odd:bg-panel">
                <th scope="row" className="sticky left-0 bg-inherit px-3 py-1 text-right font-normal text-soft">
                  {at.toLocaleString('en')}
                </th>
                {Array.from(numbers.subarray(at, at + columns), (value, column) => (
                  <td key={column} className="px-3 py-1 text-right">
                    {formatNumber(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 ? (
        <div className="mt-2 flex items-center gap-3 text-sm text-soft">
          <Button look="small" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Earlier
          </Button>
          <Button look="small" disabled={page >= pages - 1} onClick={() => setPage(page + 1)}>
            Later
          </Button>
          Page {(page + 1).toLocaleString('en')} of {pages.toLocaleString('en')}
        </div>
      ) : null}
    </div>
  );
}
