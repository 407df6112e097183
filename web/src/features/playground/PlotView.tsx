// Plots an output with D3's scales and shapes.
import { extent, max, min } from 'd3-array';
import { scaleLinear, type ScaleLinear } from 'd3-scale';
import { area, curveStep } from 'd3-shape';
import { formatNumber, type Plot } from './drawing';

const width = 640;
const height = 400;
const margin = { left: 66, right: 14, top: 12, bottom: 30 };

const shortNumber = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(1).replace('e+', 'e');
  return formatNumber(Number(value.toPrecision(4)));
};

export function PlotView({ plot, title }: { plot: Plot; title: string }) {
  const drawn = draw(plot);
  if (drawn === null) return <p className="py-10 text-center text-soft">There is no finite number to draw.</p>;
  const { x, y, path, stroke, words } = drawn;
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}: ${words}`} className="w-full font-mono text-[11px]">
      {y.ticks(6).map((tick) => (
        <g key={tick}>
          <line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
          <text x={margin.left - 8} y={y(tick)} dy="0.32em" textAnchor="end" fill="var(--ink-soft)">
            {shortNumber(tick)}
          </text>
        </g>
      ))}
      {x.ticks(6).map((tick) => (
        <text key={tick} x={x(tick)} y={height - 10} textAnchor="middle" fill="var(--ink-soft)">
          {shortNumber(tick)}
        </text>
      ))}
      {stroke ? (
        <path d={path} fill="none" stroke="var(--warp)" strokeWidth={plot.kind === 'points' ? 2.6 : 1.4} strokeLinecap="round" strokeLinejoin="round" opacity={plot.kind === 'points' ? 0.75 : 1} />
      ) : (
        <path d={path} fill="var(--warp)" />
      )}
    </svg>
  );
}

type Drawn = { x: ScaleLinear<number, number>; y: ScaleLinear<number, number>; path: string; stroke: boolean; words: string };

function scales(xs: readonly [number, number], ys: readonly [number, number]): [ScaleLinear<number, number>, ScaleLinear<number, number>] {
  const open = ([low, high]: readonly [number, number]): [number, number] => (low === high ? [low - 1, high + 1] : [low, high]);
  return [
    scaleLinear(open(xs), [margin.left, width - margin.right]),
    scaleLinear(open(ys), [height - margin.bottom, margin.top]).nice(6),
  ];
}

function draw(plot: Plot): Drawn | null {
  switch (plot.kind) {
    case 'line': {
      const last = plot.columns.at(-1);
      if (last === undefined) return null;
      const [x, y] = scales([0, last.from], [min(plot.columns, (one) => one.least) ?? 0, max(plot.columns, (one) => one.most) ?? 0]);
      const path = plot.columns
        .map((one, i) => `${i === 0 ? 'M' : 'L'}${x(one.from).toFixed(1)} ${y(one.least).toFixed(1)}${one.least === one.most ? '' : `V${y(one.most).toFixed(1)}`}`)
        .join('');
      return { x, y, path, stroke: true, words: `a line over ${plot.columns.length} places` };
    }
    case 'points': {
      const xs = extent(plot.points, ([one]) => one);
      const ys = extent(plot.points, ([, one]) => one);
      if (xs[0] === undefined || ys[0] === undefined) return null;
      const [x, y] = scales(xs, ys);
      const path = plot.points.map(([px, py]) => `M${x(px).toFixed(1)} ${y(py).toFixed(1)}h0`).join('');
      return { x, y, path, stroke: true, words: `${plot.points.length} points by their first two numbers` };
    }
    case 'histogram': {
      const [first] = plot.bins;
      const last = plot.bins.at(-1);
      if (first === undefined || last === undefined) return null;
      const [x, y] = scales([first.from, last.to], [0, max(plot.bins, (bin) => bin.count) ?? 1]);
      const shape = area<{ at: number; count: number }>()
        .x((one) => x(one.at))
        .y0(y(0))
        .y1((one) => y(one.count))
        .curve(curveStep);
      const points = [{ at: first.from, count: first.count }, ...plot.bins.map((bin) => ({ at: (bin.from + bin.to) / 2, count: bin.count })), { at: last.to, count: last.count }];
      return { x, y, path: shape(points) ?? '', stroke: false, words: 'a histogram of its values' };
    }
  }
}
