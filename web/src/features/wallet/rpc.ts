// The JSON-RPC requests that the page sends to a Solana node.
import { base58 } from '../../engine/keptWallet';
import { fromBase58, fromBase64, toBase64, type Bytes } from './bytes';
import { refusalText } from './program';

export type Account = { readonly owner: string; readonly data: Bytes };
export type Status = { readonly confirmed: boolean; readonly failure: string | null };

type Value<T> = { readonly value: T };
type RawAccount = { readonly owner: string; readonly data: readonly [string, string] } | null;

function failureText(failure: unknown): string {
  const custom = (failure as { InstructionError?: [number, { Custom?: number }] })?.InstructionError?.[1]?.Custom;
  return custom === undefined ? JSON.stringify(failure) : `the program refuses it: ${refusalText(custom)}`;
}

export class Rpc {
  constructor(private readonly url: string) {}

  private async ask<T>(method: string, params: readonly unknown[]): Promise<T> {
    let response: Response;
    try {
      response = await fetch(this.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
    } catch {
      throw new Error(`The node of the chain at ${this.url} does not answer.`);
    }
    const answer = (await response.json().catch(() => ({}))) as { result?: T; error?: { message?: string } };
    if (answer.error !== undefined || answer.result === undefined) throw new Error(`The node refuses ${method}: ${answer.error?.message ?? response.status}.`);
    return answer.result;
  }

  async accounts(keys: readonly Uint8Array[]): Promise<(Account | null)[]> {
    const { value } = await this.ask<Value<RawAccount[]>>('getMultipleAccounts', [keys.map((key) => base58(key)), { encoding: 'base64' }]);
    if (!Array.isArray(value) || value.length !== keys.length) throw new Error('The node answered with accounts that were not asked for.');
    return value.map((one) => (one === null ? null : { owner: one.owner, data: fromBase64(one.data[0]) }));
  }
  /** Returns a program's accounts of the given size that have the given bytes at the given offsets. */
  async accountsOf(program: string, size: number, named: readonly { readonly at: number; readonly bytes: Bytes }[]): Promise<Account[]> {
    const filters = [{ dataSize: size }, ...named.map(({ at, bytes }) => ({ memcmp: { offset: at, bytes: toBase64(bytes), encoding: 'base64' } }))];
    const rows = await this.ask<{ readonly account: NonNullable<RawAccount> }[]>('getProgramAccounts', [program, { encoding: 'base64', commitment: 'confirmed', filters }]);
    if (!Array.isArray(rows)) throw new Error('The node answers without a list of accounts.');
    return rows.map(({ account }) => ({ owner: account.owner, data: fromBase64(account.data[0]) }));
  }
  async lamports(key: Uint8Array): Promise<number> {
    return (await this.ask<Value<number>>('getBalance', [base58(key)])).value;
  }
  rentOf(bytes: number): Promise<number> {
    return this.ask<number>('getMinimumBalanceForRentExemption', [bytes]);
  }
  async blockhash(): Promise<{ readonly hash: Bytes; readonly lastHeight: number }> {
    const { value } = await this.ask<Value<{ blockhash: string; lastValidBlockHeight: number }>>('getLatestBlockhash', []);
    return { hash: fromBase58(value.blockhash), lastHeight: value.lastValidBlockHeight };
  }
  height(): Promise<number> {
    return this.ask<number>('getBlockHeight', []);
  }
  /** Simulates a transaction. Throws with the program's own message if it would fail. */
  async tryOut(transaction: Uint8Array): Promise<void> {
    const { value } = await this.ask<Value<{ err: unknown }>>('simulateTransaction', [toBase64(transaction), { encoding: 'base64' }]);
    if (value.err !== null) throw new Error(`The transaction would fail: ${failureText(value.err)}.`);
  }
  /** Sends a transaction. If the node accepts it, it may still not land. */
  async send(transaction: Uint8Array): Promise<void> {
    await this.ask('sendTransaction', [toBase64(transaction), { encoding: 'base64', skipPreflight: true, maxRetries: 0 }]);
  }
  /** Returns the status of a transaction; null if it is unknown, which does not mean that it failed. */
  async status(signature: string): Promise<Status | null> {
    const { value } = await this.ask<Value<({ err: unknown; confirmationStatus: string } | null)[]>>('getSignatureStatuses', [[signature], { searchTransactionHistory: true }]);
    const found = value[0] ?? null;
    return found === null ? null : { confirmed: found.confirmationStatus !== 'processed', failure: found.err === null ? null : failureText(found.err) };
  }
}
