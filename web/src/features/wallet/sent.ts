// What the wallet has signed and the page has not seen through. It is kept in this browser before it is sent, so that a closed tab
// loses nothing: the page follows the same bytes when it is opened again. The same bytes land once at most, and never after the
// height that they carry; nothing else is signed for them.
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
    // Nothing that can be read is kept.
  }
  localStorage.setItem(place, JSON.stringify([...others, ...change(kept(program))]));
}

/** Before the first of them is sent; throws where the browser keeps nothing. */
export function keep(transactions: readonly { readonly what: string; readonly bytes: Uint8Array }[], program: string, lastHeight: number): void {
  const more = transactions.map(({ what, bytes }): Sent => ({ what, program, bytes: toBase64(bytes), lastHeight }));
  write(program, (mine) => [...mine, ...more]);
  if (!more.every(({ bytes }) => kept(program).some((one) => one.bytes === bytes))) throw new Error('This browser keeps nothing for the page, so nothing was sent.');
}
const forget = (sent: Sent) => write(sent.program, (mine) => mine.filter(({ bytes }) => bytes !== sent.bytes));

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends the same bytes until the cluster has confirmed them or they can no longer land. A node that is silent is asked again. */
export async function follow(rpc: Rpc, sent: Sent, silent: (sentence: string) => void): Promise<Outcome> {
  const bytes = fromBase64(sent.bytes);
  const signature = signatureOf(bytes);
  for (;;) {
    try {
      const height = await rpc.height();  // Before the status: what is unknown once its height has passed stays so.
      const status = await rpc.status(signature);
      if (status?.confirmed === true) {
        forget(sent);
        return status.failure === null ? { landed: true } : { landed: false, why: status.failure };
      }
      if (status === null && height > sent.lastHeight) {
        forget(sent);
        return { landed: false, why: 'it did not land in its time, and never will' };
      }
      if (status === null) await rpc.send(bytes);
      silent('');
    } catch (error) {
      silent(error instanceof Error ? error.message : String(error));
    }
    await wait(pollMs);
  }
}
