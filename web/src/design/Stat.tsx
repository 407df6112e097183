/** A number with its name below it. */
export function Stat({ label, value, unit, hint, testId }: { label: string; value: string; unit?: string; hint?: string; testId?: string }) {
  return (
    <div className="flex flex-col-reverse justify-end">
      <dt className="text-sm text-soft">{label}</dt>
      <dd className="flex items-baseline gap-1.5 font-mono text-[1.75rem] leading-tight tracking-tight tabular-nums" title={hint} data-testid={testId}>
        {value}
        {unit ? <span className="font-sans text-sm tracking-normal text-soft">{unit}</span> : null}
      </dd>
    </div>
  );
}
