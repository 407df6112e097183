// The cloth on the loom: warp threads run down from the top, and every task that this tab has done is one pick of dyed weft
// beaten in at the fell. Below it lies undyed cloth, which stands for what others wove before. A drawing for the eye only:
// whatever it says is also written beside it.
import { memo, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { draftFor, runs, warpIsUp, type Draft } from './draft';

type ClothProps = {
  /** Picks the draft; the wallet's address where there is one. */
  seed: string;
  /** Tasks woven by this tab. */
  picks: number;
  /** The shuttle is under way. */
  weaving: boolean;
  className?: string;
};

const cell = 10;  // User units between two threads.
const undyedShare = 0.3;
const threadPixels = 8;
const sizeAtFirst = { ends: 60, rows: 80 };

/** As many threads across and picks down as the place has room for: a thread is as thick on a phone as on a wall. */
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

/** Vertical runs of warp on top, over the rows that are woven. */
function warpFloats(draft: Draft, ends: number, rows: readonly number[], top: number): string {
  let path = '';
  for (let end = 0; end < ends; end += 1) {
    const up = rows.map((pick) => warpIsUp(draft, end, pick));
    const x = end * cell + cell / 2;
    for (const [from, to] of runs(up)) path += `M${x} ${top + from * cell + 1.6}V${top + to * cell - 1.6}`;
  }
  return path;
}

/** One pick: horizontal runs of weft on top. */
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

  // The newest pick is the topmost; once the cloth reaches two thirds up, it winds on and old picks leave at the bottom.
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
