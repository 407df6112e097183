// The frame around every page: the head with the logo and the links, and the page itself. The first page is loaded with the app; each other
// page is loaded when it is opened.
import { lazy, Suspense, useEffect } from 'react';
import type { Engine } from '../engine/engine';
import type { Throttle } from '../engine/throttle';
import { ContributePage } from '../features/contribute/ContributePage';
import { Mark } from '../weave/Mark';
import { DevToolsSwitch } from './DevToolsSwitch';
import { follow, paths, usePage, type Page } from './route';
import { ThemeSwitch } from './ThemeSwitch';

const PlaygroundPage = lazy(async () => ({ default: (await import('../features/playground')).PlaygroundPage }));
const ChatPage = lazy(async () => ({ default: (await import('../features/chat')).createChatPage() }));
const AccountPage = lazy(async () => ({ default: (await import('../features/account')).AccountPage }));
const VisionPage = lazy(async () => ({ default: (await import('../features/vision')).VisionPage }));
const WalletPage = lazy(async () => ({ default: (await import('../features/wallet')).WalletPage }));
const DashboardPage = lazy(async () => ({ default: (await import('../features/dashboard')).createDashboardPage(new URL('/', window.location.href).href) }));

const names: Record<Page, string> = { contribute: 'Contribute', dashboard: 'Network', playground: 'Playground', chat: 'Chat', vision: 'Vision', account: 'Account', wallet: 'Wallet' };
const pages: readonly Page[] = ['contribute', 'dashboard', 'playground', 'chat', 'vision', 'account', 'wallet'];

/** `base` is the coordinator's address; it ends with a slash. */
export function App({ engine, throttle, base }: { engine: Engine; throttle: Throttle; base: string }) {
  const page = usePage();
  useEffect(() => {
    document.title = `Weft: ${names[page].toLowerCase()}`;
  }, [page]);
  return (
    <div className="mx-auto max-w-[76rem] px-5 sm:px-8">
      <header className={`relative z-10 flex flex-wrap items-center justify-between gap-x-3 gap-y-2 py-5 ${page === 'contribute' ? 'lg:mr-[31rem]' : ''}`}>
        <div className="contents sm:flex sm:items-center sm:gap-5">
          <a href={base} onClick={follow} className="flex items-center gap-2.5 text-xl font-bold tracking-tight">
            <Mark className="size-7" />
            weft
          </a>
          <nav aria-label="Pages" className="order-last flex w-full flex-wrap gap-x-3 gap-y-1 text-sm sm:order-none sm:w-auto">
            {pages.map((one) => (
              <a
                key={one}
                href={new URL(paths[one], base).href}
                onClick={follow}
                aria-current={one === page ? 'page' : undefined}
                className="rounded border-b-2 border-transparent py-1.5 text-soft hover:text-ink aria-[current=page]:border-weld aria-[current=page]:text-ink"
              >
                {names[one]}
              </a>
            ))}
          </nav>
        </div>
        <div className="flex items-center">
          <DevToolsSwitch engine={engine} page={names[page]} />
          <ThemeSwitch />
        </div>
      </header>
      {page === 'chat' ? (
        <Suspense fallback={<main className="pt-14 text-soft">Loading the chat…</main>}>
          <ChatPage />
        </Suspense>
      ) : page === 'dashboard' ? (
        <Suspense fallback={<main className="pt-14 text-soft">Loading the dashboard…</main>}>
          <DashboardPage />
        </Suspense>
      ) : page === 'account' ? (
        <Suspense fallback={<main className="pt-14 text-soft">Loading the account…</main>}>
          <AccountPage base={base} />
        </Suspense>
      ) : page === 'vision' ? (
        <Suspense fallback={<main className="pt-14 text-soft">Loading the page…</main>}>
          <VisionPage />
        </Suspense>
      ) : page === 'wallet' ? (
        <Suspense fallback={<main className="pt-14 text-soft">Loading the wallet…</main>}>
          <WalletPage base={base} />
        </Suspense>
      ) : page === 'playground' ? (
        <Suspense fallback={<main className="pt-14 text-soft">Loading the playground…</main>}>
          <PlaygroundPage base={base} />
        </Suspense>
      ) : (
        <ContributePage engine={engine} throttle={throttle} base={base} />
      )}
      {page === 'contribute' ? (
        <footer className="mt-16 border-t border-line py-8 text-sm text-soft">
          <p className="max-w-prose">
            The machine that computes a task sees its inputs in the clear. Results are checked before they are paid: parts of
            them are computed again, by the coordinator or by workers that it trusts. Pay of a new worker is free to spend ten minutes
            later, so that a wrong result that is found late earns nothing.
          </p>
        </footer>
      ) : null}
    </div>
  );
}
