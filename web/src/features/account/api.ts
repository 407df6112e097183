// The requests of the account: its balances, its history, and a payment, which moves credits once, however often it is sent.
import type { Lab } from '../../engine/lab';
import { answered, coordinatorKey, readSigned, signature } from '../../engine/signing';
import type { LedgerAccount, Owner } from '../../wire/api';
import { makeStatement, statementAccounts, type Statement } from './statement';

const pageOfEntries = 1000; // The most entries that the coordinator gives at once.

export async function fetchOwner(lab: Lab, base: string): Promise<Owner> {
  return checked(await answered<Owner>(await readSigned(lab, base, '/v1/owner')), '/v1/owner');
}

function checked(owner: Owner, path: string): Owner {
  if (typeof owner?.free !== 'number' || !Array.isArray(owner.devices)) throw new Error(`${path} answered with an unexpected document.`);
  return owner;
}

export async function fetchStatement(lab: Lab, base: string, owner: string): Promise<Statement> {
  const histories: LedgerAccount[] = [];
  for (const [kind] of statementAccounts) {
    const ask = async (from: number): Promise<LedgerAccount> =>
      answered(await readSigned(lab, base, `/v1/owner/statement?account=${kind}&from=${from}&count=${pageOfEntries}`));
    const first = await ask(0);
    const entries = [...first.entries];
    for (let from = first.next; from !== 0; ) {
      const page = await ask(from);
      entries.push(...page.entries);
      from = page.next;
    }
    histories.push({ ...first, entries });
  }
  return makeStatement(owner, histories);
}

/** The error if it is not known whether the coordinator has received the request. Sending the request again counts only once. */
export class Unanswered extends Error {}

/** A signed payment. Each send() sends the same request. */
export type Payment = { readonly to: string; readonly amount: bigint; send(): Promise<Owner> };

export async function signPayment(lab: Lab, base: string, to: string, amount: bigint): Promise<Payment> {
  const path = '/v1/owner/payments';
  const body = `{"to":${JSON.stringify(to)},"amount":${amount}}`;
  const request = { method: 'POST', body, headers: { 'content-type': 'application/json', ...(await signature(lab, base, 'POST', path, body)) } };
  const send = async (): Promise<Owner> => {
    let response: Response;
    try {
      response = await fetch(new URL(path, base).href, request);
    } catch {
      throw new Unanswered('No answer has come, so it is not known whether the credits have moved.');
    }
    if (response.status >= 500) throw new Unanswered(`The coordinator answered ${response.status}, so it is not known whether the credits have moved.`);
    if (!response.ok) return answered<Owner>(response);
    try {
      return checked(await answered<Owner>(response), path);
    } catch {
      throw new Unanswered('The answer broke off or is not of a coordinator, so it is not known whether the credits have moved.');
    }
  };
  return { to, amount, send };
}

export { coordinatorKey };
