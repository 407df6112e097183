// Submits a program as a job on the network: it is signed by the browser's wallet, sent, and followed to its end.
import { forgetInvitation, heldInvitation } from '../../app/invitation';
import type { Lab } from '../../engine/lab';
import { answered, readSigned, signature } from '../../engine/signing';
import type { Jobs, Submitted } from '../../wire/api';

export type Job = Jobs['jobs'][number];

/** Redeems an invitation from a link for this browser's wallet. It is used once; a refusal of the coordinator is thrown. */
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

/** Signs exactly the text `manifest` and submits it. The same nonce gives the same job again, so that a lost answer does no harm. */
export async function submit(lab: Lab, base: string, manifest: string): Promise<Submitted & { readonly client: string }> {
  await redeemInvitation(lab, base);
  const signed = await signature(lab, base, 'POST', '/v1/jobs', manifest);
  const request: RequestInit = { method: 'POST', body: manifest, headers: { 'content-type': 'application/json', ...signed } };
  const address = new URL('/v1/jobs', base).href;
  const response = await fetch(address, request).catch(() => fetch(address, request));
  return { ...(await answered<Submitted>(response)), client: signed['weft-client'] ?? '' };
}

export async function job(lab: Lab, base: string, id: string, signal: AbortSignal): Promise<Job> {
  return answered<Job>(await readSigned(lab, base, `/v1/jobs/${encodeURIComponent(id)}`, signal));
}

export async function output(lab: Lab, base: string, id: string, index: number): Promise<Uint8Array> {
  const response = await readSigned(lab, base, `/v1/jobs/${encodeURIComponent(id)}/outputs/${index}`);
  if (!response.ok) return answered<never>(response);
  return new Uint8Array(await response.arrayBuffer());
}
