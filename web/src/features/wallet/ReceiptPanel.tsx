import { useEffect, useRef, useState } from 'react';
import type { CheckedReceipt, Desk } from './desk';
import { receiptBytesMax, type Recorded } from './receipts';

type Opened = { readonly id: number; readonly name: string; readonly checked: CheckedReceipt | null; readonly why: string };

const openedMost = 100;
const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const utc = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const holds = (one: Opened): boolean => one.checked !== null && one.checked.checks.every(({ ok }) => ok);

/**
 * Checks receipt files in the page: their claims, their signature, and the device on the chain. It also lists the receipts of the owner's
 * devices on the chain.
 */
export function ReceiptPanel({ desk, owner }: { desk: Pick<Desk, 'checkReceipt' | 'recorded'>; owner: string | null }) {
  const [opened, setOpened] = useState<readonly Opened[]>([]);
  const count = useRef(0);
  const open = async (file: File) => {
    const id = (count.current += 1);
    let next: Opened;
    try {
      if (file.size > receiptBytesMax) throw new Error('This file is too long for a receipt.');
      next = { id, name: file.name, checked: await desk.checkReceipt(await file.text()), why: '' };
    } catch (error) {
      next = { id, name: file.name, checked: null, why: sentence(error) };
    }
    // A file that is opened again replaces its earlier version; the newest is first.
    setOpened((before) => [next, ...before.filter(({ name }) => name !== next.name)].sort((a, b) => b.id - a.id).slice(0, openedMost));
  };
  return (
    <section aria-labelledby="receipts-title">
      <h2 id="receipts-title" className="text-xl font-semibold tracking-tight">Receipts</h2>
      <p className="mt-2 max-w-prose text-soft">What devices have signed of their results can be checked here. The files stay in this browser.</p>
      <label htmlFor="receipt-file" className="mt-3 block text-sm text-soft">Receipts’ files</label>
      <input
        id="receipt-file"
        type="file"
        multiple
        accept=".json,application/json"
        className="mt-1 block max-w-full text-sm"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])].slice(0, openedMost);
          event.target.value = '';  // Allows the same file to be chosen again.
          for (const file of files) void open(file);
        }}
      />
      {opened.length === 0 ? null : (
        <div className="mt-4" role="status">
          <ul className="space-y-2">
            {opened.map((one) => (
              <li key={one.id} className="border border-line bg-panel p-4" data-testid="receipt-checked">
                <p className={`font-semibold break-words ${holds(one) ? '' : 'text-madder'}`}>
                  {one.name}: {holds(one) ? 'this receipt holds.' : 'this receipt is refused.'}
                </p>
                {one.why === '' ? null : <p className="mt-1">{one.why}</p>}
                {one.checked === null ? null : (
                  <ul className="mt-1 space-y-1">
                    {one.checked.checks.map(({ name, ok, detail }) => (
                      <li key={name} className={`break-words ${ok ? 'text-soft' : 'text-madder'}`}>{detail}</li>
                    ))}
                    <li className="text-soft">{one.checked.recordedAt === null ? 'The receipt is not recorded on the chain.' : `The receipt has been recorded on the chain since ${utc(one.checked.recordedAt)}.`}</li>
                  </ul>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      {owner === null ? null : <RecordedList key={owner} desk={desk} owner={owner} opened={opened} />}
    </section>
  );
}

function RecordedList({ desk, owner, opened }: { desk: Pick<Desk, 'recorded'>; owner: string; opened: readonly Opened[] }) {
  const [rows, setRows] = useState<readonly Recorded[] | null>(null);
  const [why, setWhy] = useState('');
  useEffect(() => {
    let gone = false;
    desk.recorded(owner).then(
      (found) => {
        if (gone) return;
        setRows(found);
        setWhy('');
      },
      (error: unknown) => !gone && setWhy(sentence(error)),
    );
    return () => {
      gone = true;
    };
  }, [desk, owner, opened]);
  return (
    <div className="mt-6" data-testid="receipts-recorded">
      <h3 className="font-semibold">Recorded on the chain</h3>
      {why === '' ? null : <p className="mt-1 text-madder">{why}</p>}
      {rows === null || rows.length > 0 ? null : <p className="mt-1 text-soft">Nothing is recorded of this owner’s devices.</p>}
      <ul className="mt-2 space-y-2">
        {(rows ?? []).map((row) => {
          const file = opened.find((one) => one.checked?.digest === row.digest);
          return (
            <li key={row.digest} className="border border-line bg-panel p-4" data-testid="receipt-recorded">
              <p className="break-words">Of {row.device}, recorded {utc(row.at)}; the program has checked its signature.</p>
              <p className={`break-words ${row.check.ok ? 'text-soft' : 'text-madder'}`}>{row.check.detail}</p>
              <p className={file === undefined || holds(file) ? 'text-soft' : 'text-madder'}>
                {file === undefined ? 'Its claims are checked when its file is opened.' : holds(file) ? `Its claims were checked: ${file.name}.` : `Its file does not hold: ${file.name}.`}
              </p>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
