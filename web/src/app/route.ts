// Chooses the page from the address. Links between pages change the address without a reload, so that running work continues.
import { useSyncExternalStore, type MouseEvent } from 'react';

export type Page = 'contribute' | 'dashboard' | 'playground' | 'chat' | 'vision' | 'account' | 'wallet';

export const paths: Record<Page, string> = { contribute: '/', dashboard: '/dashboard', playground: '/playground', chat: '/chat', vision: '/vision', account: '/account', wallet: '/wallet' };

const moved = 'weft-moved';

function pageOf(path: string): Page {
  const asked = path.replace(/\/+$/, '');
  return (Object.keys(paths) as Page[]).find((page) => paths[page] === asked) ?? 'contribute';
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener);
  window.addEventListener(moved, listener);
  return () => {
    window.removeEventListener('popstate', listener);
    window.removeEventListener(moved, listener);
  };
}

export function usePage(): Page {
  return useSyncExternalStore(subscribe, () => pageOf(window.location.pathname));
}

/** For a link's onClick. It leaves clicks that open another tab to the browser. */
export function follow(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { href } = event.currentTarget;
  if (href === window.location.href) return;
  window.history.pushState(null, '', href);
  window.dispatchEvent(new Event(moved));
  window.scrollTo(0, 0);
}
