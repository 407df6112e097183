// The job that a page's address names: /dashboard#job=ID&link=LINK. Browsers do not send the part after the #; the page sends the link with
// its requests, and the coordinator then shows only this job.
import { useSyncExternalStore } from 'react';

export type SharedJob = { readonly id: string; readonly link: string };

export const sharedJobAddress = (base: string, { id, link }: SharedJob): string => new URL(`/dashboard#job=${id}&link=${link}`, base).href;

/** Returns null if the fragment does not name a job; ids and links are 32 hex digits. */
export function sharedJobOf(fragment: string): SharedJob | null {
  const [, id, link] = /^#job=([0-9a-f]{32})&link=([0-9a-f]{32})$/.exec(fragment) ?? [];
  return id === undefined || link === undefined ? null : { id, link };
}

const events = ['hashchange', 'popstate'];

function subscribe(listener: () => void): () => void {
  for (const event of events) window.addEventListener(event, listener);
  return () => {
    for (const event of events) window.removeEventListener(event, listener);
  };
}

export function useSharedJob(): SharedJob | null {
  const fragment = useSyncExternalStore(subscribe, () => window.location.hash);
  return sharedJobOf(fragment);
}
