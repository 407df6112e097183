// A roofline plot with logarithmic axes: the runs on a device, below the roofs that were measured on this device.
import { extent } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import type { Roofs, Run } from '../../engine/gpuCounters';
import { formatPrefixed, formatRate } from '../../design/format';
import { attainable, rooflinePoints } from './measures';

const width = 460;
const height = 280;
const margin = { left: 58, right: 16, top: 14, bottom: 40 };

export function Roofline({ roofs, runs }: { roofs: Roofs; runs: readonly Run[] }) {
  const points = rooflinePoints(runs, roofs);
  const ridge = roofs.operationsPerSecond / roofs.bytesPerSecond;
  const [least = ridge, most = ridge] = extent([...points.map((point) => point.intensity), ridge]);
  const xs: [number, number] = [10 ** Math.floor(Math.log10(least / 3)), 10 ** Math.ceil(Math.log10(most * 3))];
  const slowest = Math.min(attainable(roofs, xs[0]), ...points.map((point) => point.rate));
  const ys: [number, number] = [10 ** Math.floor(Math.log10(slowest)), 10 ** Math.ceil(Math.log10(roofs.operationsPerSecond * 1.5))];
  const x = scaleLog(xs, [margin.left, width - margin.right]);
  const y = scaleLog(ys, [height - margin.bottom, margin.top]);
  const decades = ([low, high]: [number, number]): number[] => {
    const first = Math.round(Math.log10(low));
    const count = Math.round(Math.log10(high)) - first;
    const step = Math.max(1, Math.ceil(count / 6));
    return Array.from({ length: Math.floor(count / step) + 1 }, (_, i) => 10 ** (first + i * step));
  };
  const roof = line<number>()
    .x((intensity) => x(intensity))
    .y((intensity) => y(attainable(roofs, intensity)));
  const [latest] = points;
  return (
    <figure data-testid="roofline" data-points={points.length}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        className="w-full font-mono text-[10px]"
        role="img"
        aria-label={`Roofline: ${formatPrefixed(roofs.bytesPerSecond, 'B/s')} of memory, ${formatPrefixed(roofs.operationsPerSecond, 'op/s')} of arithmetic, ${points.length} runs`}
      >
        {decades(ys).map((tick) => (
          <g key={tick}>
            <line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
            <text x={margin.left - 7} y={y(tick)} dy="0.32em" textAnchor="end" fill="var(--ink-soft)">
              {formatPrefixed(tick, '')}
            </text>
          </g>
        ))}
        {decades(xs).map((tick) => (
          <g key={tick}>
            <line x1={x(tick)} x2={x(tick)} y1={margin.top} y2={height - margin.bottom} stroke="var(--line)" />
            <text x={x(tick)} y={height - margin.bottom + 15} textAnchor="middle" fill="var(--ink-soft)">
              {tick >= 1 ? tick.toLocaleString('en') : `1/${Math.round(1 / tick).toLocaleString('en')}`}
            </text>
          </g>
        ))}
        <text x={width - margin.right} y={height - 6} textAnchor="end" fill="var(--ink-soft)">
          operations a byte
        </text>
        <text x={margin.left + 5} y={margin.top + 9} fill="var(--ink-soft)">
          operations a second
        </text>
        <path d={roof([xs[0], ridge, xs[1]]) ?? ''} fill="none" stroke="var(--warp)" strokeWidth="2.2" strokeLinejoin="round" />
        {points
          .slice()
          .reverse()
          .map((point, i) => (
            <circle key={i} cx={x(point.intensity)} cy={y(point.rate)} r={point === latest ? 5.5 : 3.5} fill={point === latest ? 'var(--weld)' : 'var(--warp-slack)'} stroke="var(--ink)" strokeWidth={point === latest ? 1.2 : 0.6}>
              <title>{`${point.run.name}: ${formatPrefixed(point.rate, 'op/s')}`}</title>
            </circle>
          ))}
      </svg>
      <figcaption className="mt-1 text-sm text-soft">
        Roofs: {formatPrefixed(roofs.bytesPerSecond, 'B/s')} copied, {formatPrefixed(roofs.operationsPerSecond, 'op/s')} of {roofs.what}.{' '}
        {latest ? (
          <span className="text-ink">
            {latest.run.name} just ran at {formatPrefixed(latest.rate, 'op/s')}, {latest.share >= 0.01 ? Math.round(latest.share * 100) : formatRate(latest.share * 100)} % of what its{' '}
            {latest.intensity < ridge ? 'bytes' : 'operations'} allow{latest.run.byTimestamps ? '' : ', by the wall clock'}.
          </span>
        ) : (
          'Nothing ran yet whose operations are known.'
        )}
      </figcaption>
    </figure>
  );
}
