// Shows the coordinator's key, to compare it with the key that its operator publishes: a page cannot prove from which server it came.
import { useState } from 'react';
import { Button } from '../../design/Button';

export function KeyCard({ base, coordinator }: { base: string; coordinator: string }) {
  const [copied, setCopied] = useState(false);
  const command = `weft wallet statement --coordinator ${new URL(base).origin} --coordinator-key ${coordinator}`;
  return (
    <section aria-labelledby="key-title">
      <h2 id="key-title" className="text-xl font-semibold tracking-tight">The coordinator’s key</h2>
      <p className="mt-3 border border-line bg-panel p-4 font-mono text-sm break-all" data-testid="coordinator-key">{coordinator}</p>
      <p className="mt-3 max-w-prose text-soft">
        What this browser signs holds for this key only. Compare it with the one that the operator gave you by another way (<code className="font-mono text-[0.9em] text-ink">weft serve</code> prints
        it): this page comes from the same server, so it cannot vouch for it. The command line keeps the key at its first connection and refuses another one later; told the
        key in advance, it accepts no other from the start:
      </p>
      <pre className="mt-3 border border-line bg-panel p-4 text-sm wrap-anywhere whitespace-pre-wrap" data-testid="pin-command"><code>{command}</code></pre>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button look="small" onClick={() => void navigator.clipboard.writeText(coordinator).then(() => setCopied(true))}>Copy key</Button>
      </div>
      <p role="status" className="mt-2 text-sm text-soft">{copied ? 'Key copied.' : ''}</p>
    </section>
  );
}
