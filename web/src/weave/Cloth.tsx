// A drawing of cloth on a loom: warp threads run down from the top, and every task that this tab has done is one pick of dyed weft at the
// edge of the cloth. The undyed cloth below the edge stands for the work of other tabs. The cloth is only a drawing: the page also writes
// the numbers that it shows.
import { memo, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { draftFor, runs, warpIsUp, type Draft } from './draft';

type ClothProps = {
  /** Determines the draft; the wallet's address if there is one. */
  seed: string;
  /** The number of tasks that this tab has done. */
  picks: number;
  /** True while the shuttle moves. */
  weaving: boolean;
  className?: string;
};

const cell = 10;  // The distance of two threads, in user units.
const undyedShare = 0.3;
const threadPixels = 8;
const sizeAtFirst = { ends: 60, rows: 80 };

/** Returns the number of threads across and of picks down that fit, so that threads have the same thickness on every screen. */
function useSize(svg: RefObject<SVGSVGElement | null>): { ends: number; rows: number } {
  const [size, setSize] = useState(sizeAtFirst);
  useLayoutEffect(() => {
    const element = svg.current;
    if (element === null) return undefined;
    const measure = () => {
      const { width, height } = element.getBoundingClientRect();
      if (width === 0 || height === 0) return;
      const ends = Math.min(160, Math.max(40, Math.round(width / threadPixels)));
      const rows = Math.max(12, Math.ceil((ends * height) / width));
      setSize((before) => (before.ends === ends && before.rows === rows ? before : { ends, rows }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [svg]);
  return size;
}

/** The path of the vertical runs in which the warp is on top, over the woven rows. */
function warpFloats(draft: Draft, ends: number, rows: readonly number[], top: number): string {
  let path = '';
  for (let end = 0; end < ends; end += 1) {
    const up = rows.map((pick) => warpIsUp(draft, end, pick));
    const x = end * cell + cell / 2;
    for (const [from, to] of runs(up)) path += `M${x} ${top + from * cell + 1.6}V${top + to * cell - 1.6}`;
  }
  return path;
}

/** The path of one pick: the horizontal runs in which the weft is on top. */
function weftFloats(draft: Draft, ends: number, pick: number, y: number): string {
  const up = Array.from({ length: ends }, (_, end) => !warpIsUp(draft, end, pick));
  return runs(up)
    .map(([from, to]) => `M${from * cell + 1.2} ${y}H${to * cell - 1.2}`)
    .join('');
}

const Pick = memo(function Pick({ draft, ends, pick, y, dye, fresh }: {
  draft: Draft; ends: number; pick: number; y: number; dye: string; fresh: boolean;
}) {
  const line = y + cell / 2;
  return (
    <g className={fresh ? 'animate-[beat-in_420ms_cubic-bezier(.2,.8,.2,1)]' : undefined}>
      <path d={`M-6 ${line}H${ends * cell + 6}`} stroke={`var(--${dye}-deep)`} strokeWidth={cell * 0.8} />
      <path d={weftFloats(draft, ends, pick, line)} stroke={`var(--${dye})`} strokeWidth={cell * 0.8} strokeLinecap="round" />
    </g>
  );
});

export function Cloth({ seed, picks, weaving, className }: ClothProps) {
  const draft = useMemo(() => draftFor(seed), [seed]);
  const svg = useRef<SVGSVGElement>(null);
  const { ends, rows } = useSize(svg);
  const base = Math.round(rows * undyedShare);

  // The newest pick is the topmost. When the cloth reaches two thirds of the height, it winds on, and old picks disappear at the bottom.
  const woven = base + picks;
  const shown = Math.min(woven, Math.floor((rows * 2) / 3));
  const newest = woven - 1;
  const visible = useMemo(() => Array.from({ length: shown }, (_, i) => newest - i), [shown, newest]);

  const width = ends * cell;
  const height = rows * cell;
  const fell = height - shown * cell;
  const floats = useMemo(() => warpFloats(draft, ends, visible, fell), [draft, ends, visible, fell]);
  const warpLines = useMemo(
    () => Array.from({ length: ends }, (_, end) => `M${end * cell + cell / 2} 0V${height}`).join(''),
    [ends, height],
  );

  return (
    <svg
      ref={svg}
      className={className}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMax slice"
      aria-hidden="true"
      focusable="false"
      fill="none"
    >
      <path d={warpLines} stroke="var(--warp-slack)" strokeWidth={cell * 0.22} />
      {visible.map((pick, i) => (
        <Pick
          key={pick}
          draft={draft}
          ends={ends}
          pick={pick}
          y={fell + i * cell}
          dye={pick >= base ? `dye-${draft.dye}` : 'raw'}
          fresh={pick >= base && i === 0}
        />
      ))}
      <path d={floats} stroke="var(--warp-deep)" strokeWidth={cell * 0.8} strokeLinecap="round" />
      <path d={floats} stroke="var(--warp)" strokeWidth={cell * 0.58} strokeLinecap="round" />
      {weaving ? <Shuttle y={fell - cell * 2.2} width={width} dye={draft.dye} /> : null}
    </svg>
  );
}

function Shuttle({ y, width, dye }: { y: number; width: number; dye: number }) {
  return (
    <g className="animate-[shuttle_1400ms_cubic-bezier(.45,.05,.55,.95)_infinite_alternate]" data-testid="shuttle">
      <path d={`M${-width} ${y + 6}H40`} stroke={`var(--dye-${dye})`} strokeWidth={3} />
      <path d={`M0 ${y + 6}C26 ${y - 7} 70 ${y - 7} 96 ${y + 6}C70 ${y + 19} 26 ${y + 19} 0 ${y + 6}Z`} fill="var(--ink)" />
      <path d={`M26 ${y + 6}H70`} stroke={`var(--dye-${dye})`} strokeWidth={7} strokeLinecap="round" />
    </g>
  );
}
