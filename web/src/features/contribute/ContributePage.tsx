// The first page: one button, what this machine offers, and while it works, what it does and earns.
import { useEffect } from 'react';
import type { Engine } from '../../engine/engine';
import type { Preflight } from '../../engine/preflight';
import { isActive, type Session } from '../../engine/session';
import { Cloth } from '../../weave/Cloth';
import { NetworkPanel } from '../network/NetworkPanel';
import { useNetwork } from '../network/useNetwork';
import { MachineCard } from './MachineCard';
import { RecentTasks } from './RecentTasks';
import { RunningPanel } from './RunningPanel';
import { useNow, usePreflight, useSession, useWakeUps } from './useContribution';
import { WalletCard } from './WalletCard';
import { WelcomePanel } from './WelcomePanel';

export function ContributePage({ engine, base, look }: { engine: Engine; base: string; look?: () => Promise<Preflight> }) {
  const session = useSession(engine);
  const found = usePreflight(look);
  const active = isActive(session.phase);
  const now = useNow(active);
  const network = useNetwork(base);
  useWakeUps(engine);
  useEffect(() => {
    if (found !== null && found.missing.length === 0) engine.showWallet();
  }, [engine, found]);

  const weaving = active && session.tasks.some((task) => task.state === 'running');
  const jobName = (id: string) => network.network?.jobs.find((job) => job.id === id)?.name;

  return (
    <main>
      <div className="lg:grid lg:min-h-[36rem] lg:grid-cols-[minmax(0,1fr)_minmax(0,27rem)] lg:gap-x-14">
        <div className="-mx-5 h-44 sm:-mx-8 lg:order-2 lg:-mt-24 lg:mr-0 lg:ml-0 lg:h-auto lg:min-h-0">
          <LoomCloth session={session} weaving={weaving} />
        </div>
        <div className="pt-8 lg:pt-16 lg:pb-10">
          {session.phase === 'idle' || session.phase === 'stopped' || session.phase === 'failed' ? (
            <WelcomePanel engine={engine} base={base} session={session} found={found} />
          ) : (
            <RunningPanel engine={engine} session={session} now={now} jobName={jobName} />
          )}
        </div>
      </div>

      {session.device !== null || session.address !== null ? (
        <div className="mt-12 grid gap-x-12 gap-y-10 border-t border-line pt-10 lg:grid-cols-[3fr_2fr]">
          <MachineCard device={session.device} />
          <WalletCard engine={engine} session={session} />
        </div>
      ) : null}
      {session.tasks.length > 0 ? <RecentTasks tasks={session.tasks} now={now} jobName={jobName} /> : null}
      <NetworkPanel state={network} ownAddress={session.address} />
    </main>
  );
}

function LoomCloth({ session, weaving }: { session: Session; weaving: boolean }) {
  return <Cloth className="block size-full" seed={session.address ?? 'weft'} picks={session.done} weaving={weaving} />;
}
