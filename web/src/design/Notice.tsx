import type { ReactNode } from 'react';

type Tone = 'plain' | 'warn';

/** A notice for the user. Screen readers read `warn` aloud at once. */
export function Notice({ tone = 'plain', title, children, className = '' }: { tone?: Tone; title: string; children?: ReactNode; className?: string }) {
  return (
    <div
      role={tone === 'warn' ? 'alert' : 'note'}
      className={`border-l-4 bg-panel px-4 py-3 text-[0.95rem] ${tone === 'warn' ? 'border-madder' : 'border-weld'} ${className}`}
    >
      <p className="font-semibold">{title}</p>
      {children ? <div className="mt-1 space-y-2 text-soft">{children}</div> : null}
    </div>
  );
}
