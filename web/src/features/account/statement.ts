// A statement of an owner: every movement on its accounts, oldest first, as `weft wallet statement` writes it.
import type { LedgerAccount } from '../../wire/api';

/** The accounts of an owner, as they are asked for, with what a statement calls them. */
export const statementAccounts = [
  ['owner', 'free'],
  ['granted', 'granted'],
  ['held', 'held'],
  ['held-granted', 'held granted'],
  ['stake', 'staked'],
  ['settled', 'settled'],
] as const;

export type StatementLine = {
  readonly time: number;
  readonly account: string;
  readonly amount: number;
  readonly balance: number;
  readonly what: string;
  readonly job: string;
  readonly key: string;
};
export type Statement = { readonly owner: string; readonly lines: readonly StatementLine[] };

const inCredits = (micro: number): string => `${micro < 0 ? '-' : ''}${Math.floor(Math.abs(micro) / 1e6)}.${String(Math.abs(micro) % 1e6).padStart(6, '0')}`;

/** `histories`: one for each of statementAccounts, each newest first. Throws where the balances of an account do not follow from its amounts. */
export function makeStatement(owner: string, histories: readonly LedgerAccount[]): Statement {
  const lines = histories.flatMap(({ account, entries }, i) => {
    entries.forEach((later, at) => {
      const earlier = entries[at + 1];
      if (earlier !== undefined && earlier.balance + later.amount !== later.balance) {
        throw new Error(`The ledger's entries do not add up: after ${earlier.key} the account ${account} holds ${inCredits(earlier.balance)}, ${later.key} changes it by ${inCredits(later.amount)}, and ${inCredits(later.balance)} are left.`);
      }
    });
    const name = statementAccounts[i]?.[1] ?? account;
    return [...entries].reverse().map(({ time, amount, balance, what, job, key }) => ({ time, account: name, amount, balance, what, job, key }));
  });
  return { owner, lines: lines.sort((a, b) => a.time - b.time) }; // Equal times keep the order of the accounts.
}

/** A spreadsheet runs texts that begin so as formulas, and names of jobs are strangers' texts. */
const quoted = (text: string): string => `"${/^[=+\-@\t\r]/.test(text) ? "'" : ''}${text.replaceAll('"', '""')}"`;
const utc = (time: number): string => `${new Date(Math.floor(time / 1000) * 1000).toISOString().slice(0, 19)}Z`;

/** RFC 4180: a head, a line each, CRLF; amounts in credits with six decimals, times in UTC. */
export function statementCsv({ lines }: Statement): string {
  const rows = lines.map(({ time, account, amount, balance, what, job, key }) => [utc(time), account, inCredits(amount), inCredits(balance), quoted(what), job, quoted(key)].join(','));
  return ['time,account,amount,balance,what,job,transaction', ...rows, ''].join('\r\n');
}

export const statementJson = (statement: Statement): string => `${JSON.stringify(statement)}\n`;
