// A program as a job on the network: signed by the wallet that the browser keeps, sent, followed to its end.
import { forgetInvitation, heldInvitation } from '../../app/invitation';
import type { Lab } from '../../engine/lab';
import type { Info, Jobs, Problem, Submitted } from '../../wire/api';

export type Job = Jobs['jobs'][number];

async function answered<View>(response: Response): Promise<View> {
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as Partial<Problem> & { line?: number; column?: number };
    throw new Error(problem.detail ?? `The coordinator answered ${response.status}.`);
  }
  return (await response.json()) as View;
}

const keys = new Map<string, string>();

async function keyOf(base: string): Promise<string> {
  const known = keys.get(base);
  if (known !== undefined) return known;
  const { coordinator } = await answered<Info>(await fetch(new URL('/v1/info', base).href));
  keys.set(base, coordinator);
  return coordinator;
}

/** The headers that sign a request to this coordinator and to no other one. */
async function signature(lab: Lab, base: string, method: string, target: string, body: string): Promise<Readonly<Record<string, string>>> {
  const coordinator = await keyOf(base);
  const { client, nonce, time, signature } = await lab.call('sign', `${coordinator} ${method} ${target}\n${body}`);
  return { 'weft-client': client, 'weft-nonce': nonce, 'weft-time': time, 'weft-signature': signature };
}

/** Credits for this browser's wallet, where a link brought an invitation. It is asked once; what the coordinator says of it is thrown. */
async function redeemInvitation(lab: Lab, base: string): Promise<void> {
  const invitation = heldInvitation();
  if (invitation === null) return;
  const body = JSON.stringify({ invitation });
  const signed = await signature(lab, base, 'POST', '/v1/owner/grant', body);
  const response = await fetch(new URL('/v1/owner/grant', base).href, { method: 'POST', body, headers: { 'content-type': 'application/json', ...signed } });
  if (response.status === 429 || response.status >= 500) return answered<never>(response);
  forgetInvitation();
  if (response.status !== 409) await answered<unknown>(response);
}

/** Signs exactly `manifest` and hands it in. The same nonce again gives the same job, so that a lost answer costs nothing. */
export async function submit(lab: Lab, base: string, manifest: string): Promise<Submitted & { readonly client: string }> {
  await redeemInvitation(lab, base);
  const signed = await signature(lab, base, 'POST', '/v1/jobs', manifest);
  const request: RequestInit = { method: 'POST', body: manifest, headers: { 'content-type': 'application/json', ...signed } };
  const address = new URL('/v1/jobs', base).href;
  const response = await fetch(address, request).catch(() => fetch(address, request));
  return { ...(await answered<Submitted>(response)), client: signed['weft-client'] ?? '' };
}

/** Signed as the wallet that handed the job in: what a job computed is its owner's. */
async function read(lab: Lab, base: string, path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(new URL(path, base).href, { headers: await signature(lab, base, 'GET', path, ''), ...(signal ? { signal } : {}) });
  if (response.status === 401) keys.delete(base); // Its key may be another one since.
  return response;
}

export async function job(lab: Lab, base: string, id: string, signal: AbortSignal): Promise<Job> {
  return answered<Job>(await read(lab, base, `/v1/jobs/${encodeURIComponent(id)}`, signal));
}

export async function output(lab: Lab, base: string, id: string, index: number): Promise<Uint8Array> {
  const response = await read(lab, base, `/v1/jobs/${encodeURIComponent(id)}/outputs/${index}`);
  if (!response.ok) return answered<never>(response);
  return new Uint8Array(await response.arrayBuffer());
}
