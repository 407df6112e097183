// Opens the DevTools panel, which is loaded at its first use. It offers the contributing engine to the panel; other pages offer theirs.
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import type { Engine } from '../engine/engine';
import { offerGpuSource, type Run } from '../engine/gpuCounters';
import type { Session } from '../engine/session';

const DevTools = lazy(async () => ({ default: (await import('../features/devtools')).DevTools }));

const runsMax = 24;

/** The latest tasks of this tab, with the names of their jobs. */
function runsOf(session: Session): readonly Run[] {
  const byTimestamps = session.device?.features.includes('timestamp-query') ?? false;
  return session.tasks
    .filter((task) => task.endedAt !== undefined && task.bytes > 0)
    .slice(0, runsMax)
    .map(({ name, index, bytes, operations, gpuSeconds }) => ({
      name: `${name}, task ${index + 1}`,
      bytes,
      operations: operations > 0 ? operations : null,
      seconds: gpuSeconds,
      byTimestamps,
    }));
}

/** `page` is the page whose engine is shown first. */
export function DevToolsSwitch({ engine, page }: { engine: Engine; page: string }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(
    () =>
      offerGpuSource({
        name: 'Contribute',
        counters: (watch) => engine.gpuCounters(watch),
        runs: () => runsOf(engine.snapshot()),
        roofsAreKnown: true,
        roofs: async () => {
          const { device } = engine.snapshot();
          if (device === null || device.kind !== 'gpu' || device.copyGbPerS === 0) return null;
          return { bytesPerSecond: device.copyGbPerS * 1e9, operationsPerSecond: device.f32GflopPerS * 1e9, what: 'f32 multiply-adds' };
        },
      }),
    [engine],
  );
  return (
    <>
      <button ref={button} type="button" aria-expanded={open} className="rounded px-2.5 py-1.5 text-sm text-soft hover:text-ink" onClick={() => setOpen(!open)}>
        DevTools
      </button>
      {open
        ? createPortal(
            <Suspense fallback={null}>
              <DevTools wish={page} onClose={close} />
            </Suspense>,
            document.body,
          )
        : null}
    </>
  );
}
