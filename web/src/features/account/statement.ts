// A statement of an owner: every movement on its accounts, oldest first, as `weft wallet statement` writes it.
import type { LedgerAccount } from '../../wire/api';

/** The accounts of an owner as requests name them, with their names in a statement. */
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

/**
 * `histories` has one history for each of statementAccounts, newest entry first. Throws if the balances of an account do not follow from
 * its amounts.
 */
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
  return { owner, lines: lines.sort((a, b) => a.time - b.time) }; // Lines with equal times keep the order of the accounts.
}

/**
 * Quotes a text for CSV. A text that begins like a formula gets a leading quote, because a spreadsheet would run it and job names come from
 * strangers.
 */
const quoted = (text: string): string => `"${/^[=+\-@\t\r]/.test(text) ? "'" : ''}${text.replaceAll('"', '""')}"`;
const utc = (time: number): string => `${new Date(Math.floor(time / 1000) * 1000).toISOString().slice(0, 19)}Z`;

/** Writes CSV by RFC 4180: a header, one line for each movement, CRLF; amounts in credits with six decimals, times in UTC. */
export function statementCsv({ lines }: Statement): string {
  const rows = lines.map(({ time, account, amount, balance, what, job, key }) => [utc(time), account, inCredits(amount), inCredits(balance), quoted(what), job, quoted(key)].join(','));
  return ['time,account,amount,balance,what,job,transaction', ...rows, ''].join('\r\n');
}

export const statementJson = (statement: Statement): string => `${JSON.stringify(statement)}\n`;
