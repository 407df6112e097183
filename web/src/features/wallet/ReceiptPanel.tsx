import { useRef, useState } from 'react';
import type { Desk } from './desk';
import { receiptBytesMax, type ReceiptCheck } from './receipts';

type Shown = { readonly name: string; readonly checks: readonly ReceiptCheck[]; readonly why: string };

/** A receipt's file, checked here: its claims, its signature, and the device that the chain names. */
export function ReceiptPanel({ desk }: { desk: Pick<Desk, 'checkReceipt'> }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const latest = useRef(0);
  const open = async (file: File) => {
    const turn = (latest.current += 1);
    let next: Shown;
    try {
      if (file.size > receiptBytesMax) throw new Error('This file is too long for a receipt.');
      next = { name: file.name, checks: await desk.checkReceipt(await file.text()), why: '' };
    } catch (error) {
      next = { name: file.name, checks: [], why: error instanceof Error ? error.message : String(error) };
    }
    if (turn === latest.current) setShown(next);
  };
  const holds = shown !== null && shown.why === '' && shown.checks.every(({ ok }) => ok);
  return (
    <section aria-labelledby="receipts-title">
      <h2 id="receipts-title" className="text-xl font-semibold tracking-tight">Receipts</h2>
      <p className="mt-2 max-w-prose text-soft">What a device has signed of its results can be checked here. The file stays in this browser.</p>
      <label htmlFor="receipt-file" className="mt-3 block text-sm text-soft">A receipt’s file</label>
      <input
        id="receipt-file"
        type="file"
        accept=".json,application/json"
        className="mt-1 block max-w-full text-sm"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = '';  // The same file, changed, can be chosen again.
          if (file !== undefined) void open(file);
        }}
      />
      {shown === null ? null : (
        <div className="mt-4 border border-line bg-panel p-4" role="status" data-testid="receipt-checked">
          <p className={`font-semibold break-words ${holds ? '' : 'text-madder'}`}>
            {shown.name}: {holds ? 'this receipt holds.' : 'this receipt is refused.'}
          </p>
          {shown.why === '' ? null : <p className="mt-1">{shown.why}</p>}
          <ul className="mt-1 space-y-1">
            {shown.checks.map(({ name, ok, detail }) => (
              <li key={name} className={`break-words ${ok ? 'text-soft' : 'text-madder'}`}>{detail}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
