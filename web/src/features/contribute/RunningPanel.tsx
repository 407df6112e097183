// Shown while this tab contributes: its state, its earnings, its current task, and the Stop button.
import { Button } from '../../design/Button';
import { formatBytes, formatCredits, formatRate, formatSeconds, plural, prefixed } from '../../design/format';
import { Notice } from '../../design/Notice';
import { Stat } from '../../design/Stat';
import type { Engine } from '../../engine/engine';
import { rates, type Session } from '../../engine/session';

type Props = { engine: Engine; session: Session; now: number };

export function RunningPanel({ engine, session, now }: Props) {
  const { tasksPerMinute, busyShare, operationsPerSecond, bytesPerSecond } = rates(session, now);
  const { usage, limits } = session;
  const headline = headlineOf(session, now);
  const checking = session.done - session.accepted - session.refused;
  return (
    <>
      <h1 className="text-[2.75rem] leading-[1.04] font-semibold tracking-[-0.03em] sm:text-6xl" aria-live="polite" data-testid="headline">
        {headline}
      </h1>
      <ConnectionLine session={session} now={now} />
      <dl className="mt-9 grid max-w-[36rem] grid-cols-2 gap-x-8 gap-y-7 sm:grid-cols-4">
        <Stat label="Credits earned" value={formatCredits(session.earned)} testId="earned" />
        <Stat label="Tasks done" value={session.done.toLocaleString('en')} testId="done" {...(checking > 0 ? { hint: `${checking} being checked` } : {})} />
        <Stat label="Rate" value={formatRate(tasksPerMinute)} unit="/min" testId="rate" />
        <Stat label={session.device?.kind === 'cpu' ? 'CPU busy' : 'GPU busy'} value={String(Math.round(busyShare * 100))} unit={limits.share < 1 ? `% of ${Math.round(limits.share * 100)} %` : '%'} testId="busy" />
        <Stat label="Memory" {...(usage === null ? { value: '–' } : split(formatBytes(usage.memoryBytes)))} testId="memory-now" {...(limits.memoryBytes === null ? {} : { hint: `tasks and models take at most ${formatBytes(limits.memoryBytes)}` })} />
        <Stat label="In the queue here" value={usage === null ? '–' : String(usage.held)} testId="held" />
        <Stat label="Delivered" {...delivered(operationsPerSecond, 'op/s')} testId="operations" hint="multiplications and additions of built-in kernels; those of a shader cannot be counted" />
        <Stat label="Moved" {...delivered(bytesPerSecond, 'B/s')} testId="bytes" hint="inputs and outputs of the tasks of the last minute" />
      </dl>
      <HeldLine session={session} />
      {session.readyMs !== null ? <StartLine session={session} /> : null}
      <NowLine session={session} now={now} />
      {session.deviceLost ? (
        <Notice tone="warn" className="mt-6 max-w-[34rem]" title="The GPU was lost; the engine is opening it again">
          <p>{session.deviceLost} What was running goes to another worker; nothing that was done is lost.</p>
        </Notice>
      ) : null}
      <div className="mt-8 flex flex-wrap items-center gap-x-6 gap-y-3">
        <Button look="quiet" onClick={() => engine.stop()} disabled={session.phase === 'stopping'}>
          {session.phase === 'stopping' ? 'Stopping…' : 'Stop contributing'}
        </Button>
        <p className="text-sm text-soft">
          {session.phase === 'stopping' ? 'The task under way is finished or given back.' : 'Finishes or gives back what runs.'}
        </p>
      </div>
    </>
  );
}

const reasons: Readonly<Record<string, string>> = {
  hidden: 'this tab is in the background',
  battery: 'the machine runs on its battery',
};
const reasonOf = (session: Session): string => session.limits.pausedBy.map((reason) => reasons[reason] ?? reason).join(' and ');

function split(text: string): { value: string; unit: string } {
  const [value = '', unit = ''] = text.split(' ');
  return { value, unit };
}

function delivered(rate: number, unit: string): { value: string; unit: string } {
  const { value, prefix } = prefixed(rate);
  return { value, unit: prefix + unit };
}

/** Shows why the pay of the last accepted task is held, and for how long, in the coordinator's words. */
function HeldLine({ session }: { session: Session }) {
  const last = session.tasks.find((task) => task.state === 'accepted');
  if (last === undefined || last.note === '') return null;
  return (
    <p className="mt-5 max-w-[36rem] text-sm text-soft" data-testid="held-pay">
      {last.note}
    </p>
  );
}

function StartLine({ session }: { session: Session }) {
  return (
    <p className="mt-5 text-sm text-soft" data-testid="start-times" data-ready-ms={session.readyMs} data-first-task-ms={session.firstTaskMs ?? undefined}>
      Ready in {formatSeconds((session.readyMs ?? 0) / 1000)}
      {session.firstTaskMs !== null ? `, first task done after ${formatSeconds(session.firstTaskMs / 1000)}` : ''}
      {session.deviceLosses > 0 && session.deviceLost === null ? `. The GPU was lost ${session.deviceLosses === 1 ? 'once' : `${session.deviceLosses} times`} and is back` : ''}
    </p>
  );
}

// The pause between tasks after which the headline changes, so that it does not flicker between short tasks.
const restMs = 3000;

function headlineOf(session: Session, now: number): string {
  if (session.phase === 'stopping') return 'Coming to a stop';
  if (session.phase === 'loading') return 'Loading the engine';
  if (session.phase === 'measuring') return 'Measuring this machine';
  if (session.connection.state === 'waiting') return 'Connection lost';
  if (session.connection.state !== 'open') return 'Joining';
  if (session.limits.pausedBy.length > 0) return 'Paused';
  const busy = session.tasks.some((task) => task.state === 'running' || now - (task.endedAt ?? 0) < restMs);
  return busy ? 'Weaving' : 'Waiting for work';
}

const dots: Record<Session['connection']['state'], string> = {
  open: 'bg-leaf',
  connecting: 'bg-weld-deep animate-[breathe_1.2s_infinite]',
  waiting: 'bg-madder animate-[breathe_1.2s_infinite]',
  closed: 'bg-line',
};

function ConnectionLine({ session, now }: { session: Session; now: number }) {
  const { connection } = session;
  let words: string;
  switch (connection.state) {
    case 'open':
      words = `Connected for ${formatSeconds(Math.max(1, Math.round((now - connection.since) / 1000)))}`;
      break;
    case 'connecting':
      words = 'Connecting to the coordinator…';
      break;
    case 'waiting': {
      // The rest is at most retryMs, because the page's clock moves once a second and may be a little before the time of the loss.
      const left = Math.max(0, Math.ceil(Math.min(connection.retryMs, connection.retryAt - now) / 1000));
      words = `${connection.reason} ${left > 0 ? `Trying again in ${plural(left, 'second')}.` : 'Trying again now.'}`;
      break;
    }
    case 'closed':
      words = 'Not connected yet';
      break;
  }
  return (
    <p className="mt-4 flex items-center gap-2.5 text-soft" data-testid="connection" data-state={connection.state}>
      <span className={`size-2.5 shrink-0 rounded-full ${dots[connection.state]}`} aria-hidden="true" />
      {words}
    </p>
  );
}

function NowLine({ session, now }: Omit<Props, 'engine'>) {
  const running = session.tasks.filter((task) => task.state === 'running');
  const [first] = running;
  const serving = session.usage?.serving;
  return (
    <p className="mt-7 min-h-12 max-w-[36rem] border-t border-line pt-3" data-testid="now">
      {first ? (
        <>
          <span className="font-medium">Job {first.job.slice(0, 8)}</span>, task {first.index + 1}
          {running.length > 1 ? <span className="text-soft"> and {plural(running.length - 1, 'more', 'more')}</span> : null}
          {now - first.startedAt >= 1000 ? <span className="text-soft">, for {formatSeconds(Math.round((now - first.startedAt) / 1000))}</span> : null}
        </>
      ) : (
        <span className="text-soft">
          {session.limits.pausedBy.length > 0
            ? `Paused since ${reasonOf(session)}; it continues by itself.`
            : serving !== undefined && serving.shards > 0
              ? `Serves ${plural(serving.shards, 'part')} of models${serving.tokens > 0 ? `, ${plural(serving.tokens, 'token')} drawn` : ''}.`
              : 'Nothing runs right now.'}
        </span>
      )}
    </p>
  );
}
