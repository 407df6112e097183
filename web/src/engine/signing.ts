// Signs requests with the wallet of this browser. A signature is valid for one coordinator, so each coordinator's key is requested once.
import type { Info, Problem } from '../wire/api';
import type { Lab } from './lab';

/** Returns the document of an answer, or throws an Error with the coordinator's message. */
export async function answered<View>(response: Response): Promise<View> {
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
    throw new Error(problem.detail ?? `The coordinator answered ${response.status}.`);
  }
  return (await response.json()) as View;
}

const keys = new Map<string, string>();

export async function coordinatorKey(base: string): Promise<string> {
  const known = keys.get(base);
  if (known !== undefined) return known;
  const { coordinator } = await answered<Info>(await fetch(new URL('/v1/info', base).href));
  keys.set(base, coordinator);
  return coordinator;
}

/** Returns the headers that sign a request; they are valid only for this coordinator. */
export async function signature(lab: Lab, base: string, method: string, target: string, body: string): Promise<Readonly<Record<string, string>>> {
  const coordinator = await coordinatorKey(base);
  const { client, nonce, time, signature } = await lab.call('sign', `${coordinator} ${method} ${target}\n${body}`);
  return { 'weft-client': client, 'weft-nonce': nonce, 'weft-time': time, 'weft-signature': signature };
}

/** Sends a request that this browser's wallet signs, for data that belongs to the wallet's owner. */
export async function readSigned(lab: Lab, base: string, target: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(new URL(target, base).href, { headers: await signature(lab, base, 'GET', target, ''), ...(signal ? { signal } : {}) });
  if (response.status === 401) keys.delete(base); // The coordinator's key may have changed.
  return response;
}
