// The shell around every page: the head with the sign, and the page. Later pages (network, playground, chat) take their place
// beside the contribute page here, each loaded on demand.
import type { Engine } from '../engine/engine';
import { ContributePage } from '../features/contribute/ContributePage';
import { Mark } from '../weave/Mark';
import { ThemeSwitch } from './ThemeSwitch';

/** `base` is the coordinator's address with a slash at its end. */
export function App({ engine, base }: { engine: Engine; base: string }) {
  return (
    <div className="mx-auto max-w-[76rem] px-5 sm:px-8">
      <header className="relative z-10 flex items-center justify-between py-5 lg:mr-[31rem]">
        <a href={base} className="flex items-center gap-2.5 text-xl font-bold tracking-tight">
          <Mark className="size-7" />
          weft
        </a>
        <ThemeSwitch />
      </header>
      <ContributePage engine={engine} base={base} />
      <footer className="mt-16 border-t border-line py-8 text-sm text-soft">
        <p className="max-w-prose">
          The machine that computes a task sees its inputs in the clear. Results are checked before they are paid: by a second
          worker, by an audit, or by arithmetic.
        </p>
      </footer>
    </div>
  );
}
