// Shown before the start and after a stop: a description of Weft, the offers of this machine, and
// the Start button.
import { Button } from '../../design/Button';
import { formatCredits, plural } from '../../design/format';
import { Notice } from '../../design/Notice';
import type { Engine, StartOptions } from '../../engine/engine';
import type { Preflight } from '../../engine/preflight';
import type { Session } from '../../engine/session';
import { NotSecure } from './NotSecure';

type Props = { engine: Engine; base: string; session: Session; found: Preflight | null };

export function startOptions(base: string, found: Preflight): StartOptions {
  return { coordinator: new URL(base).origin, device: found.gpu.state === 'ready' ? 'gpu' : 'cpu' };
}

export function WelcomePanel({ engine, base, session, found }: Props) {
  const ready = found !== null && found.missing.length === 0;
  const start = () => {
    if (found !== null) engine.start(startOptions(base, found));
  };
  return (
    <>
      <h1 className="max-w-[13ch] text-[2.75rem] leading-[1.04] font-semibold tracking-[-0.03em] sm:text-6xl">Put this machine on the loom.</h1>
      <p className="mt-5 max-w-[46ch] text-lg text-soft">
        Press start, and this tab computes small pieces of other people's jobs. Every result is checked, and every checked result
        is paid. Nothing is installed; closing the tab ends it.
      </p>
      {session.phase === 'stopped' && session.startedAt !== null ? <Summary session={session} /> : null}
      {session.failure ? <Failure session={session} /> : null}
      {found !== null && !ready ? (
        <NotSecure found={found} />
      ) : (
        <div className="mt-8 flex flex-wrap items-center gap-x-6 gap-y-4">
          <Button look="primary" onClick={start} disabled={!ready} aria-describedby="machine-offer">
            Start contributing
          </Button>
        </div>
      )}
      {ready || found === null ? <Offer found={found} /> : null}
    </>
  );
}

function Offer({ found }: { found: Preflight | null }) {
  if (found === null) {
    return (
      <p id="machine-offer" className="mt-4 text-soft">
        Looking at what this machine offers…
      </p>
    );
  }
  if (found.gpu.state === 'ready') {
    return (
      <p id="machine-offer" className="mt-4 text-soft" data-testid="offer">
        WebGPU offers <span className="font-medium text-ink">{found.gpu.name}</span>
        {found.gpu.software ? ', which computes in software: it works, slowly.' : '.'}
      </p>
    );
  }
  return (
    <div id="machine-offer" data-testid="offer" className="mt-5 max-w-[34rem]">
      <Notice title="No WebGPU here, so this tab joins with the CPU kernels">
        <p>{found.gpu.why} Kernel jobs, such as integer matrix products, run on the processor instead and are paid the same way.</p>
      </Notice>
    </div>
  );
}

function Summary({ session }: { session: Session }) {
  return (
    <p role="status" className="mt-6 max-w-[46ch] border-l-4 border-leaf py-1 pl-4" data-testid="summary">
      Stopped. This tab did {plural(session.done, 'task')} and earned {formatCredits(session.earned)} credits
      {session.done > session.accepted + session.refused ? '; the results still being checked are paid to the wallet when they are accepted' : ''}.
    </p>
  );
}

function Failure({ session }: { session: Session }) {
  const failure = session.failure;
  if (failure === null) return null;
  if (failure.code === 'engine-missing') {
    return (
      <Notice tone="warn" className="mt-6 max-w-[34rem]" title="The engine is not on this server">
        <p>
          The page is here but its WebAssembly engine is not: {failure.message} The operator of the coordinator builds it with{' '}
          <code className="font-mono text-[0.9em] text-ink">./weft build</code> and starts it again.
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone="warn" className="mt-6 max-w-[34rem]" title="This tab stopped contributing">
      <p>{failure.message}</p>
    </Notice>
  );
}
