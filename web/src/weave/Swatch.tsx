// A small picture of a wallet's own draft, which makes two addresses easy to distinguish.
import { useMemo } from 'react';
import { draftFor, warpIsUp } from './draft';

export function Swatch({ seed, className, size = 12 }: { seed: string; className?: string; size?: number }) {
  const draft = useMemo(() => draftFor(seed), [seed]);
  const up = useMemo(() => {
    let path = '';
    for (let pick = 0; pick < size; pick += 1) {
      for (let end = 0; end < size; end += 1) if (warpIsUp(draft, end, pick)) path += `M${end} ${pick}h1v1h-1z`;
    }
    return path;
  }, [draft, size]);
  return (
    <svg className={className} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" aria-hidden="true" focusable="false">
      <rect width={size} height={size} fill={`var(--dye-${draft.dye})`} />
      <path d={up} fill="var(--warp-deep)" />
    </svg>
  );
}
