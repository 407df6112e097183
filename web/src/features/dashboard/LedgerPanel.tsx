// The totals of the accounts of each kind, whose sum must be zero. Only its owner can see a single account (`weft ledger`).
import { formatCredits } from '../../design/format';
import type { Ledger } from '../../wire/api';
import { fetchLedger } from './api';
import { useAsked } from './useAsked';

export function LedgerPanel({ base }: { base: string }) {
  const { value: ledger, error } = useAsked<Ledger>((signal) => fetchLedger(base, signal), base);
  const balances = ledger === null ? [] : [...ledger.balances].sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
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
              {balances.map((balance) => (
                <tr key={balance.account} className="border-b border-line">
                  <th scope="row" className="py-1.5 font-mono font-normal">
                    {balance.account}
                  </th>
                  <td className="py-1.5 text-right font-mono tabular-nums">{formatCredits(balance.amount)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {ledger !== null && balances.length === 0 ? <p className="mt-3 text-soft">Nothing has been paid yet.</p> : null}
        </div>
        <p className="max-w-prose text-sm text-soft">
          These are the totals of all accounts of a kind. What a single account holds, gave and got is shown to its owner: <code className="font-mono text-[0.9em] text-ink">weft ledger --account owner:KEY</code>. Every movement has
          a key that is used once, so no task is paid twice.
        </p>
      </div>
    </section>
  );
}
