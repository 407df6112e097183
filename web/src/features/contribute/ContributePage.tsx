// The first page: the Start button, the offers of this machine, and, during work, its tasks and
// earnings.
import { useEffect } from 'react';
import type { Engine } from '../../engine/engine';
import type { Preflight } from '../../engine/preflight';
import { isActive } from '../../engine/session';
import type { Throttle } from '../../engine/throttle';
import { Cloth } from '../../weave/Cloth';
import { NetworkPanel } from '../network/NetworkPanel';
import { useNetwork } from '../network/useNetwork';
import { HowItWorks } from './HowItWorks';
import { LimitsCard } from './LimitsCard';
import { MachineCard } from './MachineCard';
import { RecentTasks } from './RecentTasks';
import { RunningPanel } from './RunningPanel';
import { useNow, usePreflight, useSession, useWakeUps } from './useContribution';
import { WalletCard } from './WalletCard';
import { startOptions, WelcomePanel } from './WelcomePanel';

/** True for the address `?start=1` in a browser that a program drives (`weft demo`). In all other browsers only a click starts the work. */
function startsByItself(): boolean {
  return navigator.webdriver && new URLSearchParams(window.location.search).get('start') === '1';
}

export function ContributePage({ engine, throttle, base, look }: { engine: Engine; throttle: Throttle; base: string; look?: () => Promise<Preflight> }) {
  const session = useSession(engine);
  const found = usePreflight(look);
  const active = isActive(session.phase);
  const now = useNow(active);
  const network = useNetwork(base);
  useWakeUps(engine);
  useEffect(() => {
    if (found === null || found.missing.length > 0) return;
    engine.showWallet();
    if (startsByItself()) engine.start(startOptions(base, found));
  }, [engine, found, base]);

  const weaving = active && session.tasks.some((task) => task.state === 'running');

  return (
    <main>
      <div className="lg:grid lg:min-h-[36rem] lg:grid-cols-[minmax(0,1fr)_minmax(0,27rem)] lg:gap-x-14">
        {/* The drawing of the loom. On a wide window it reaches to the window's right edge. */}
        <div className="relative -mx-5 h-48 sm:-mx-8 lg:order-2 lg:-mt-24 lg:mr-[calc(min(0px,76rem-100vw)/2-2rem)] lg:ml-0 lg:h-auto">
          <div className="absolute inset-0 overflow-hidden">
            <Cloth className="block size-full" seed={session.address ?? 'weft'} picks={session.done} weaving={weaving} />
          </div>
          <div className="absolute inset-x-0 bottom-0 h-2.5 bg-beam lg:-left-3 lg:rounded-l-full" />
        </div>
        <div className="pt-8 lg:pt-16 lg:pb-10">
          {session.phase === 'idle' || session.phase === 'stopped' || session.phase === 'failed' ? (
            <WelcomePanel engine={engine} base={base} session={session} found={found} />
          ) : (
            <RunningPanel engine={engine} session={session} now={now} />
          )}
        </div>
      </div>

      <div className="mt-14 grid gap-x-12 gap-y-12 lg:grid-cols-[3fr_2fr]">
        {session.device === null ? <HowItWorks /> : <MachineCard device={session.device} />}
        <div className="space-y-12">
          <LimitsCard throttle={throttle} />
          <WalletCard engine={engine} session={session} />
        </div>
      </div>
      {session.tasks.length > 0 ? <RecentTasks tasks={session.tasks} now={now} /> : null}
      <NetworkPanel state={network} ownAddress={session.address} />
    </main>
  );
}
