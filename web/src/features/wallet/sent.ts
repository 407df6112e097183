// The transactions that the wallet has signed and whose outcome the page does not know yet. They are stored in this browser before they are
// sent, so that closing the tab loses nothing: the page follows the same bytes when it is opened again. The same bytes land at most once,
// and never after the block height that they contain; nothing is signed a second time.
import { fromBase64, toBase64 } from './bytes';
import type { Rpc } from './rpc';
import { signatureOf } from './transaction';

export type Sent = { readonly what: string; readonly program: string; readonly bytes: string; readonly lastHeight: number };
export type Outcome = { readonly landed: true } | { readonly landed: false; readonly why: string };

const place = 'weft-settlement-sent';
const pollMs = 800;

export function kept(program: string): Sent[] {
  try {
    const all = JSON.parse(localStorage.getItem(place) ?? '[]') as Sent[];
    return Array.isArray(all) ? all.filter((one) => one.program === program && typeof one.bytes === 'string' && typeof one.lastHeight === 'number') : [];
  } catch {
    return [];
  }
}
function write(program: string, change: (mine: readonly Sent[]) => readonly Sent[]): void {
  let others: Sent[] = [];
  try {
    others = (JSON.parse(localStorage.getItem(place) ?? '[]') as Sent[]).filter((one) => one.program !== program);
  } catch {
    // Storage without readable entries counts as empty.
  }
  localStorage.setItem(place, JSON.stringify([...others, ...change(kept(program))]));
}

/** Stores transactions before the first of them is sent. Throws if the browser has no storage. */
export function keep(transactions: readonly { readonly what: string; readonly bytes: Uint8Array }[], program: string, lastHeight: number): void {
  const more = transactions.map(({ what, bytes }): Sent => ({ what, program, bytes: toBase64(bytes), lastHeight }));
  write(program, (mine) => [...mine, ...more]);
  if (!more.every(({ bytes }) => kept(program).some((one) => one.bytes === bytes))) throw new Error('This browser does not let the page store data, so nothing was sent.');
}
const forget = (sent: Sent) => write(sent.program, (mine) => mine.filter(({ bytes }) => bytes !== sent.bytes));

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends the same bytes until the cluster has confirmed them or they can no longer land. A node that does not answer is asked again. */
export async function follow(rpc: Rpc, sent: Sent, silent: (sentence: string) => void): Promise<Outcome> {
  const bytes = fromBase64(sent.bytes);
  const signature = signatureOf(bytes);
  for (;;) {
    try {
      // Read before the status, so that a transaction that is unknown after its last height can never land.
      const height = await rpc.height();
      const status = await rpc.status(signature);
      if (status?.confirmed === true) {
        forget(sent);
        return status.failure === null ? { landed: true } : { landed: false, why: status.failure };
      }
      if (status === null && height > sent.lastHeight) {
        forget(sent);
        return { landed: false, why: 'it was not executed before it expired, and can no longer be executed' };
      }
      if (status === null) await rpc.send(bytes);
      silent('');
    } catch (error) {
      silent(error instanceof Error ? error.message : String(error));
    }
    await wait(pollMs);
  }
}
