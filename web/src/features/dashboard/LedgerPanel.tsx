// Every account's balance, that they sum to nothing, and what happened on one of them.
import { useEffect, useState } from 'react';
import { formatCredits, plural, shorten } from '../../design/format';
import type { Ledger, LedgerAccount } from '../../wire/api';
import { fetchAccount, fetchLedger } from './api';

const shownAtFirst = 10;
const refreshMs = 3000;

/** "worker:ABC…XYZ": the kind in full, the key in short. */
export function accountName(account: string): string {
  const colon = account.indexOf(':');
  return colon < 0 ? account : `${account.slice(0, colon)} ${shorten(account.slice(colon + 1))}`;
}

function useAsked<Value>(ask: (signal: AbortSignal) => Promise<Value>, key: string): { value: Value | null; error: string } {
  const [state, setState] = useState<{ key: string; value: Value | null; error: string }>({ key, value: null, error: '' });
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = async () => {
      try {
        if (!document.hidden) {
          const value = await ask(stop.signal);
          setState({ key, value, error: '' });
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        setState((before) => ({ key, value: before.key === key ? before.value : null, error: error instanceof Error ? error.message : String(error) }));
      }
      timer = setTimeout(() => void again(), refreshMs);
    };
    void again();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return state.key === key ? state : { value: null, error: '' };
}

export function LedgerPanel({ base }: { base: string }) {
  const { value: ledger, error } = useAsked<Ledger>((signal) => fetchLedger(base, signal), base);
  const [chosen, setChosen] = useState<string | null>(null);
  const [all, setAll] = useState(false);
  const balances = ledger === null ? [] : [...ledger.balances].sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
  const shown = all ? balances.slice(0, 500) : balances.slice(0, shownAtFirst);
  return (
    <section aria-labelledby="ledger-title">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6">
        <h2 id="ledger-title" className="text-2xl font-semibold tracking-tight">
          Ledger
        </h2>
        {ledger ? (
          <p className={`text-sm ${ledger.sum === 0 ? 'text-leaf' : 'text-madder'}`} data-testid="ledger-sum">
            {ledger.sum === 0 ? 'All accounts sum to 0' : `All accounts sum to ${formatCredits(ledger.sum)}: the books do not balance`}
          </p>
        ) : null}
      </div>
      {error ? (
        <p role="status" className="mt-3 text-madder">
          {error}
        </p>
      ) : null}
      <div className="mt-4 grid gap-x-10 gap-y-8 lg:grid-cols-2">
        <div>
          <table className="w-full text-left text-sm" data-testid="balances">
            <caption className="sr-only">Balances</caption>
            <thead>
              <tr className="border-b border-line text-soft">
                <th scope="col" className="py-2 font-medium">
                  Account
                </th>
                <th scope="col" className="py-2 text-right font-medium">
                  Credits
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((balance) => (
                <tr key={balance.account} className="border-b border-line">
                  <th scope="row" className="py-1.5 font-normal">
                    <button
                      type="button"
                      aria-pressed={balance.account === chosen}
                      title={balance.account}
                      className="rounded font-mono underline decoration-line decoration-1 underline-offset-4 hover:decoration-ink aria-pressed:decoration-weld aria-pressed:decoration-2"
                      onClick={() => setChosen(balance.account)}
                    >
                      {accountName(balance.account)}
                    </button>
                  </th>
                  <td className="py-1.5 text-right font-mono tabular-nums">{formatCredits(balance.amount)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {ledger !== null && balances.length === 0 ? <p className="mt-3 text-soft">Nothing has been paid yet.</p> : null}
          {balances.length > shownAtFirst && !all ? (
            <button type="button" className="mt-2 rounded text-sm text-soft hover:text-ink" onClick={() => setAll(true)}>
              and {plural(balances.length - shownAtFirst, 'more account')}
            </button>
          ) : null}
        </div>
        {chosen === null ? (
          <p className="max-w-prose text-sm text-soft">Choose an account to see what it gave and got. Every movement has a key that is used once, so no task is paid twice.</p>
        ) : (
          <Trail base={base} account={chosen} />
        )}
      </div>
    </section>
  );
}

function Trail({ base, account }: { base: string; account: string }) {
  const { value, error } = useAsked<LedgerAccount>((signal) => fetchAccount(base, account, signal), account);
  if (value === null) return <p className={error ? 'text-madder' : 'text-soft'}>{error || 'Asking the coordinator…'}</p>;
  return (
    <div className="min-w-0">
      <h3 className="font-mono text-sm break-all">{value.account}</h3>
      <div className="mt-2 max-h-96 overflow-y-auto" tabIndex={0} role="region" aria-label="Audit trail">
        <table className="w-full text-left text-sm" data-testid="trail">
          <caption className="sr-only">What moved on {value.account}, newest first</caption>
          <thead>
            <tr className="border-b border-line text-soft">
              <th scope="col" className="py-2 font-medium">
                What
              </th>
              <th scope="col" className="hidden py-2 font-medium sm:table-cell">
                When
              </th>
              <th scope="col" className="py-2 text-right font-medium">
                Credits
              </th>
            </tr>
          </thead>
          <tbody>
            {value.entries.map((entry) => (
              <tr key={entry.key} className="border-b border-line">
                <th scope="row" className="w-full max-w-0 truncate py-1.5 pr-3 font-normal" title={`${entry.what} (${entry.key})`}>
                  {entry.what}
                </th>
                <td className="hidden py-1.5 pr-3 font-mono text-xs whitespace-nowrap tabular-nums text-soft sm:table-cell">{new Date(entry.time).toLocaleTimeString('en-GB')}</td>
                <td className={`py-1.5 text-right font-mono tabular-nums ${entry.amount < 0 ? 'text-madder' : 'text-leaf'}`}>
                  {entry.amount > 0 ? '+' : ''}
                  {formatCredits(entry.amount)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
