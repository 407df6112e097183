// Plots values over the last minutes as lines or an area, with the current value in words and the rows as a table.
import { max } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import { area, curveMonotoneX, line } from 'd3-shape';
import { memo, useId, useState, type PointerEvent } from 'react';
import type { Row } from './board';

export type Series = { readonly name: string; readonly colour: string; readonly filled?: boolean; readonly of: (row: Row) => number | null };
type Props = {
  readonly title: string;
  /** The current value in words. */
  readonly now: string;
  readonly rows: readonly Row[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly spanMs?: number;
};

const width = 360;
const height = 140;
const margin = { top: 16, right: 2, bottom: 18, left: 2 };
const rowsInTable = 10;

const clock = (time: number) => new Date(time).toLocaleTimeString('en-GB');

/** Drawn again for each new row, once a second. */
export const TimeChart = memo(function TimeChart({ title, now, rows, series, format, spanMs = 300_000 }: Props) {
  const id = useId();
  const [at, setAt] = useState<number | null>(null);
  const end = rows.at(-1)?.time ?? 0;
  const shown = rows.filter((row) => row.time > end - spanMs);
  const top = max(shown, (row) => max(series, (one) => one.of(row) ?? 0) ?? 0) ?? 0;
  const x = scaleLinear([end - spanMs, end], [margin.left, width - margin.right]);
  const y = scaleLinear([0, top > 0 ? top : 1], [height - margin.bottom, margin.top]).nice(3);
  const pointed = at === null ? undefined : shown[at];

  const point = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const time = x.invert(((event.clientX - box.left) / box.width) * width);
    let best: number | null = null;
    shown.forEach((row, i) => {
      if (best === null || Math.abs(row.time - time) < Math.abs((shown[best]?.time ?? 0) - time)) best = i;
    });
    setAt(best);
  };

  return (
    <figure aria-labelledby={id} className="min-w-0">
      <figcaption className="flex items-baseline justify-between gap-3">
        <span id={id} className="text-sm font-semibold text-soft">
          {title}
        </span>
        <span className="truncate font-mono text-sm tabular-nums">
          {pointed ? `${clock(pointed.time)}  ${series.map((one) => format(one.of(pointed) ?? 0)).join(' · ')}` : now}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        className="mt-1.5 block w-full overflow-visible"
        role="img"
        aria-label={`${title} over ${Math.round(spanMs / 60_000)} minutes; now ${now}`}
        onPointerMove={point}
        onPointerLeave={() => setAt(null)}
      >
        {y.ticks(2).map((tick) => (
          <line key={tick} x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} stroke="var(--line)" strokeDasharray={tick === 0 ? undefined : '2 4'} />
        ))}
        {series.map((one) => {
          const drawn = shown.filter((row) => one.of(row) !== null);
          const value = (row: Row) => y(one.of(row) ?? 0);
          return (
            <g key={one.name}>
              {one.filled ? (
                <path d={area<Row>((row) => x(row.time), y(0), value).curve(curveMonotoneX)(drawn) ?? ''} fill={one.colour} opacity="0.22" />
              ) : null}
              <path d={line<Row>((row) => x(row.time), value).curve(curveMonotoneX)(drawn) ?? ''} fill="none" stroke={one.colour} strokeWidth="1.8" strokeLinejoin="round" strokeLinecap="round" />
            </g>
          );
        })}
        {y.ticks(2).map((tick) =>
          tick === 0 ? null : (
            <text key={tick} x={margin.left} y={y(tick) - 4} fontSize="10.5" fill="var(--ink-soft)" stroke="var(--ground)" strokeWidth="3" paintOrder="stroke">
              {format(tick)}
            </text>
          ),
        )}
        {pointed ? <line x1={x(pointed.time)} x2={x(pointed.time)} y1={margin.top} y2={height - margin.bottom} stroke="var(--ink)" /> : null}
        <text x={margin.left} y={height - 4} fontSize="10.5" fill="var(--ink-soft)">
          {Math.round(spanMs / 60_000)} min ago
        </text>
        <text x={width - margin.right} y={height - 4} fontSize="10.5" textAnchor="end" fill="var(--ink-soft)">
          now
        </text>
      </svg>
      <div className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-soft">
        {series.length > 1
          ? series.map((one) => (
              <span key={one.name} className="flex items-center gap-1.5">
                <svg viewBox="0 0 14 4" className="w-3.5" aria-hidden="true" focusable="false">
                  <rect width="14" height="4" rx="2" fill={one.colour} />
                </svg>
                {one.name}
              </span>
            ))
          : null}
        <details className="ml-auto">
          <summary className="rounded hover:text-ink">As a table</summary>
          <table className="mt-1 font-mono tabular-nums">
            <caption className="sr-only">
              {title}, the last {rowsInTable} seconds
            </caption>
            <thead>
              <tr>
                <th scope="col" className="pr-4 text-left font-normal">
                  Time
                </th>
                {series.map((one) => (
                  <th key={one.name} scope="col" className="pl-4 text-right font-normal">
                    {one.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.slice(-rowsInTable).map((row) => (
                <tr key={row.time}>
                  <th scope="row" className="pr-4 text-left font-normal">
                    {clock(row.time)}
                  </th>
                  {series.map((one) => {
                    const value = one.of(row);
                    return (
                      <td key={one.name} className="pl-4 text-right">
                        {value === null ? '–' : format(value)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </div>
    </figure>
  );
});
