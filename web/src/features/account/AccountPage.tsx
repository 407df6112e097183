// The account of this browser's wallet at this coordinator: its balances, payments to other owners, statements, and the coordinator's key,
// for which all requests are signed.
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Button } from '../../design/Button';
import { Notice } from '../../design/Notice';
import { keptWallet } from '../../engine/keptWallet';
import { Lab } from '../../engine/lab';
import type { Owner } from '../../wire/api';
import { Swatch } from '../../weave/Swatch';
import { creditsText } from '../wallet/credits';
import { coordinatorKey, fetchOwner, fetchStatement, signPayment } from './api';
import { KeyCard } from './KeyCard';
import { SendCard } from './SendCard';
import { statementCsv, statementJson } from './statement';

type State = { readonly kind: 'loading' | 'without' } | { readonly kind: 'failed'; readonly why: string } | { readonly kind: 'ready'; readonly owner: Owner; readonly stale?: string };

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function save(text: string, type: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

// Kept until the page is reloaded, because a Lab loads the engine to sign, which should happen only once.
let visitLab: Lab | null = null;

export function AccountPage({ base, lab: given, kept = keptWallet }: { base: string; lab?: Lab; kept?: typeof keptWallet }) {
  const lab = useMemo(() => given ?? (visitLab ??= new Lab()), [given]);
  const [state, setState] = useState<State>({ kind: 'loading' });
  const [coordinator, setCoordinator] = useState('');
  const [note, setNote] = useState('');

  const load = useCallback(async () => {
    try {
      setCoordinator(await coordinatorKey(base));
      // If there is no wallet, no request is signed, because signing would make a wallet, and the owner should decide that.
      if ((await kept()) === null) setState({ kind: 'without' });
      else setState({ kind: 'ready', owner: await fetchOwner(lab, base) });
    } catch (error) {
      // The page keeps what it shows, because a payment may be in doubt.
      setState((shown) => (shown.kind === 'ready' ? { ...shown, stale: sentence(error) } : { kind: 'failed', why: sentence(error) }));
    }
  }, [lab, base, kept]);
  useEffect(() => void load(), [load]);

  const download = async (owner: string, form: 'csv' | 'json') => {
    setNote('Reading the history…');
    try {
      const statement = await fetchStatement(lab, base, owner);
      save(form === 'csv' ? statementCsv(statement) : statementJson(statement), form === 'csv' ? 'text/csv' : 'application/json', `weft-statement-${owner.slice(0, 6)}.${form}`);
      setNote(`The statement is saved (${statement.lines.length.toLocaleString('en')} movements).`);
    } catch (error) {
      setNote(sentence(error));
    }
  };

  return (
    <main className="pb-20 pt-8">
      <h1 className="text-3xl font-bold tracking-tight">Account</h1>
      <p className="mt-3 max-w-prose text-soft">What the owner of this browser’s wallet holds in this coordinator’s ledger. Only a device of the owner reads it, with a signature.</p>
      <div className="mt-6 grid gap-x-14 gap-y-12 lg:grid-cols-2">
        <div className="min-w-0 space-y-12">
          {state.kind === 'loading' ? <p className="text-soft">Asking the coordinator…</p> : null}
          {state.kind === 'failed' ? (
            <Notice tone="warn" title={state.why}>
              <Button look="small" onClick={() => void load()}>Try again</Button>
            </Notice>
          ) : null}
          {state.kind === 'without' ? (
            <Notice title="This browser has no wallet yet.">
              <p>It makes one when it starts to contribute, or takes one of a file (on <em>Contribute</em>, under “Wallet”).</p>
            </Notice>
          ) : null}
          {state.kind === 'ready' ? (
            <>
              {state.stale === undefined ? null : <Notice tone="warn" title={`The balances could not be read again: ${state.stale}`} />}
              <Balances owner={state.owner} refresh={() => void load()} />
              <SendCard
                owner={state.owner}
                coordinator={coordinator}
                sign={(to, amount) => signPayment(lab, base, to, amount)}
                onPaid={(owner) => setState({ kind: 'ready', owner })}
              />
            </>
          ) : null}
        </div>
        <div className="min-w-0 space-y-12">
          {state.kind === 'ready' ? (
            <section aria-labelledby="statement-title">
              <h2 id="statement-title" className="text-xl font-semibold tracking-tight">Statement</h2>
              <p className="mt-2 max-w-prose text-soft">
                Every movement on your accounts with the balance after it, checked here: each balance follows from the one before. The same as <code className="font-mono text-[0.9em] text-ink">weft wallet statement</code> prints.
              </p>
              <div className="mt-3 flex flex-wrap gap-2">
                <Button look="small" onClick={() => void download(state.owner.owner, 'csv')}>Save as CSV</Button>
                <Button look="small" onClick={() => void download(state.owner.owner, 'json')}>Save as JSON</Button>
              </div>
              <p role="status" className="mt-2 text-sm text-soft" data-testid="statement-note">{note}</p>
            </section>
          ) : null}
          {coordinator === '' ? null : <KeyCard base={base} coordinator={coordinator} />}
        </div>
      </div>
    </main>
  );
}

function Balances({ owner, refresh }: { owner: Owner; refresh: () => void }) {
  const rows = [
    ['Free', owner.free, 'can be spent, sent, staked and settled', 'free'],
    ['Granted', owner.granted, 'spent first; neither sent, staked nor settled', 'granted'],
    ['Held', owner.held + owner.held_granted, 'pay that is still being checked', 'held'],
    ['Staked', owner.staked, 'can be lost for wrong results', 'staked'],
    ['Settled', owner.settled, 'in all; paid on the chain', 'settled'],
  ] as const;
  return (
    <section aria-labelledby="balances-title">
      <h2 id="balances-title" className="text-xl font-semibold tracking-tight">Balances</h2>
      <div className="mt-4 flex items-center gap-3">
        <Swatch seed={owner.owner} className="size-10 shrink-0 rounded-sm" />
        <div className="min-w-0">
          <p className="text-sm text-soft">Your owner’s key, to which others send</p>
          <p className="font-mono text-sm break-all" data-testid="owner">{owner.owner}</p>
        </div>
      </div>
      <table className="mt-4 w-full text-left text-sm">
        <caption className="sr-only">Balances in credits</caption>
        <tbody>
          {rows
            .filter(([name, amount]) => name === 'Free' || amount !== 0)
            .map(([name, amount, what, id]) => (
              <tr key={id} className="border-b border-line">
                <th scope="row" className="py-2 pr-4 align-top font-medium">
                  {name}
                  <span className="block font-normal text-soft">{what}</span>
                </th>
                <td className="py-2 text-right align-top font-mono whitespace-nowrap tabular-nums" data-testid={`balance-${id}`}>{creditsText(BigInt(amount))}</td>
              </tr>
            ))}
        </tbody>
      </table>
      <div className="mt-3">
        <Button look="small" onClick={refresh}>Read again</Button>
      </div>
    </section>
  );
}
