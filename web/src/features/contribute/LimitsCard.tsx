// The limits of this tab. They are stored between visits, and a change takes effect at once.
import { useId, useSyncExternalStore, type ReactNode } from 'react';
import { formatBytes, formatCredits } from '../../design/format';
import { memoryChoices, priceChoices, type Throttle } from '../../engine/throttle';

export function LimitsCard({ throttle }: { throttle: Throttle }) {
  const { settings, hasBattery } = useSyncExternalStore(throttle.subscribe, throttle.snapshot);
  const share = useId();
  const memory = useId();
  const price = useId();
  return (
    <section aria-labelledby="limits-title" data-testid="limits">
      <h2 id="limits-title" className="text-xl font-semibold tracking-tight">
        What it may take
      </h2>
      <div className="mt-4 max-w-[34rem] space-y-4">
        <div>
          <div className="flex items-baseline justify-between gap-4">
            <label htmlFor={share}>Share of the time</label>
            <output htmlFor={share} className="font-mono text-sm tabular-nums">
              {settings.sharePercent} %
            </output>
          </div>
          <input
            id={share}
            type="range"
            min={5}
            max={100}
            step={5}
            value={settings.sharePercent}
            onChange={(event) => throttle.change({ sharePercent: Number(event.target.value) })}
            className="mt-1 block h-7 w-full cursor-pointer accent-weld-deep"
          />
        </div>
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
          <label htmlFor={memory}>Memory for tasks and models</label>
          <select
            id={memory}
            value={settings.memoryBytes ?? ''}
            onChange={(event) => throttle.change({ memoryBytes: event.target.value === '' ? null : Number(event.target.value) })}
            className="h-9 rounded border border-line bg-panel px-2.5 text-sm hover:border-soft"
          >
            <option value="">As usual</option>
            {memoryChoices.map((bytes) => (
              <option key={bytes} value={bytes}>
                At most {formatBytes(bytes)}
              </option>
            ))}
          </select>
        </div>
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
          <label htmlFor={price}>The least that it works for, a compute unit</label>
          <select
            id={price}
            value={settings.priceMin}
            onChange={(event) => throttle.change({ priceMin: Number(event.target.value) })}
            className="h-9 rounded border border-line bg-panel px-2.5 text-sm hover:border-soft"
          >
            <option value={0}>Any price</option>
            {priceChoices.map((least) => (
              <option key={least} value={least}>
                {formatCredits(least)} credits
              </option>
            ))}
          </select>
        </div>
        <div className="space-y-2">
          <Check checked={settings.twoTasks} onChange={(twoTasks) => throttle.change({ twoTasks })}>
            Two tasks at a time, each with half of the memory
          </Check>
          <Check checked={settings.relayOnly} onChange={(relayOnly) => throttle.change({ relayOnly })}>
            Reach other members only through relays, which hides this machine’s address from them
          </Check>
          <Check checked={settings.pauseHidden} onChange={(pauseHidden) => throttle.change({ pauseHidden })}>
            Pause while this tab is in the background
          </Check>
          {hasBattery ? (
            <Check checked={settings.pauseOnBattery} onChange={(pauseOnBattery) => throttle.change({ pauseOnBattery })}>
              Pause while the machine runs on its battery
            </Check>
          ) : null}
        </div>
      </div>
    </section>
  );
}

function Check({ checked, onChange, children }: { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode }) {
  return (
    <label className="flex cursor-pointer items-start gap-2.5">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} className="mt-1 size-4 shrink-0 accent-weld-deep" />
      {children}
    </label>
  );
}
