// The page's state of the engine: one immutable value, and a pure function that computes the next value from each message. All numbers that
// the page shows are computed here, so that they can be tested without a Worker.
import type { DeviceReport, FailureCode, FromWorker, Limits, TaskName, Usage } from './messages';

export type Phase = 'idle' | 'loading' | 'measuring' | 'joined' | 'stopping' | 'stopped' | 'failed';

export type Connection =
  | { readonly state: 'closed' }
  | { readonly state: 'connecting' }
  | { readonly state: 'open'; readonly since: number }
  | { readonly state: 'waiting'; readonly reason: string; readonly retryMs: number; readonly retryAt: number };

export type TaskState = 'running' | 'checking' | 'accepted' | 'refused' | 'failed';

export type TaskRecord = TaskName & {
  readonly state: TaskState;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** The job's name; empty until the task is done. */
  readonly name: string;
  readonly gpuSeconds: number;
  /** Size of the inputs and outputs; 0 until the task is done. */
  readonly bytes: number;
  /** Operations of a built-in kernel; 0 if they are not known. */
  readonly operations: number;
  readonly paid: number;
  readonly note: string;
};

export type Session = {
  readonly phase: Phase;
  readonly connection: Connection;
  readonly address: string | null;
  /** True if the wallet's key can be exported, which only keys of earlier versions can, once. */
  readonly savable: boolean;
  readonly device: DeviceReport | null;
  /** The message about a lost GPU; the next device report clears it. */
  readonly deviceLost: string | null;
  readonly deviceLosses: number;
  readonly balance: number | null;
  readonly startedAt: number | null;
  /** Milliseconds from the click until the coordinator admitted this tab, and until its first task was done. */
  readonly readyMs: number | null;
  readonly firstTaskMs: number | null;
  readonly limits: Limits;
  readonly usage: Usage | null;
  readonly done: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly earned: number;
  /** The newest first, at most `recordsMax`. */
  readonly tasks: readonly TaskRecord[];
  readonly failure: { readonly code: FailureCode; readonly message: string } | null;
  readonly walletNote: string | null;
};

/** The number of records that are kept: enough for the rate of the last minute and for a readable list. */
export const recordsMax = 400;

export const emptySession: Session = {
  phase: 'idle',
  connection: { state: 'closed' },
  address: null,
  savable: false,
  device: null,
  deviceLost: null,
  deviceLosses: 0,
  balance: null,
  startedAt: null,
  readyMs: null,
  firstTaskMs: null,
  limits: { share: 1, memoryBytes: null, slices: 1, relayOnly: false, priceMin: 0, pausedBy: [] },
  usage: null,
  done: 0,
  accepted: 0,
  refused: 0,
  failed: 0,
  earned: 0,
  tasks: [],
  failure: null,
  walletNote: null,
};

const same = (a: TaskName, b: TaskName): boolean => a.job === b.job && a.index === b.index && a.attempt === b.attempt;

function change(tasks: readonly TaskRecord[], name: TaskName, changes: Partial<TaskRecord>): readonly TaskRecord[] {
  return tasks.map((task) => (same(task, name) ? { ...task, ...changes } : task));
}

/** The session after a click on Start: counters are 0, the wallet stays. */
export function started(session: Session, now: number): Session {
  return { ...emptySession, address: session.address, savable: session.savable, balance: session.balance, limits: session.limits, phase: 'loading', startedAt: now };
}

/** The session of an engine that leaves only to join with other limits: counters stay. */
export function startedAgain(session: Session): Session {
  return { ...session, phase: 'joined', connection: { state: 'connecting' } };
}

export function reduce(session: Session, message: FromWorker, now: number): Session {
  switch (message.type) {
    case 'loading':
      return { ...session, phase: 'loading' };
    case 'measuring':
      return { ...session, phase: 'measuring' };
    case 'wallet':
      return message.address === session.address
        ? { ...session, savable: message.savable ?? session.savable, walletNote: null }
        : { ...session, address: message.address, savable: message.savable ?? false, balance: null, walletNote: null };
    case 'wallet-file':
      return { ...session, savable: false };
    case 'gpu':
    case 'lines':
      return session;
    case 'wallet-refused':
      return { ...session, walletNote: message.message };
    case 'device':
      return { ...session, device: message.device, deviceLost: null };
    case 'device-lost':
      return { ...session, deviceLost: message.message, deviceLosses: session.deviceLosses + 1, tasks: session.tasks.filter((task) => task.state !== 'running') };
    case 'connecting':
      return { ...session, phase: session.phase === 'stopping' ? 'stopping' : 'joined', connection: { state: 'connecting' } };
    case 'connected':
      return { ...session, balance: message.balance, connection: { state: 'open', since: now }, readyMs: session.readyMs ?? now - (session.startedAt ?? now) };
    case 'usage':
      return { ...session, usage: message.usage };
    case 'disconnected':
      return {
        ...session,
        connection: { state: 'waiting', reason: message.reason, retryMs: message.retryMs, retryAt: now + message.retryMs },
      };
    case 'task-started': {
      const record: TaskRecord = { ...message.task, state: 'running', startedAt: now, name: '', gpuSeconds: 0, bytes: 0, operations: 0, paid: 0, note: '' };
      const others = session.tasks.filter((task) => !same(task, message.task));
      return { ...session, tasks: [record, ...others].slice(0, recordsMax) };
    }
    case 'task-done':
      return {
        ...session,
        done: session.done + 1,
        firstTaskMs: session.firstTaskMs ?? now - (session.startedAt ?? now),
        tasks: change(session.tasks, message.task, {
          state: 'checking',
          endedAt: now,
          name: message.name ?? '',
          gpuSeconds: message.gpuSeconds,
          bytes: message.bytes ?? 0,
          operations: message.operations ?? 0,
        }),
      };
    case 'task-failed':
      return {
        ...session,
        failed: session.failed + 1,
        tasks: change(session.tasks, message.task, { state: 'failed', endedAt: now, note: message.message }),
      };
    case 'task-cancelled':
      return { ...session, tasks: session.tasks.filter((task) => !(task.state === 'running' && same(task, message.task))) };
    case 'verdict':
      return {
        ...session,
        accepted: session.accepted + (message.accepted ? 1 : 0),
        refused: session.refused + (message.accepted ? 0 : 1),
        earned: session.earned + message.paid,
        balance: message.balance,
        tasks: change(session.tasks, message.task, {
          state: message.accepted ? 'accepted' : 'refused',
          paid: message.paid,
          note: message.reason,
        }),
      };
    case 'stopped':
      return { ...session, phase: 'stopped', connection: { state: 'closed' }, tasks: session.tasks.filter((task) => task.state !== 'running') };
    case 'failed':
      return {
        ...session,
        phase: 'failed',
        connection: { state: 'closed' },
        failure: { code: message.code, message: message.message },
        tasks: session.tasks.filter((task) => task.state !== 'running'),
      };
  }
}

export type Rates = { readonly tasksPerMinute: number; readonly busyShare: number; readonly operationsPerSecond: number; readonly bytesPerSecond: number };

/** The rates over the last minute, or since the start if that is more recent. */
export function rates(session: Session, now: number): Rates {
  if (session.startedAt === null) return { tasksPerMinute: 0, busyShare: 0, operationsPerSecond: 0, bytesPerSecond: 0 };
  const window = Math.max(1000, Math.min(60_000, now - session.startedAt));
  const from = now - window;
  let ended = 0;
  let busy = 0;
  let operations = 0;
  let bytes = 0;
  for (const task of session.tasks) {
    const end = task.endedAt ?? now;
    if (end < from) continue;
    if (task.endedAt !== undefined && task.state !== 'failed') {
      ended += 1;
      operations += task.operations;
      bytes += task.bytes;
    }
    busy += end - Math.max(from, task.startedAt);
  }
  return {
    tasksPerMinute: (ended * 60_000) / window,
    busyShare: Math.min(1, busy / window),
    operationsPerSecond: (operations * 1000) / window,
    bytesPerSecond: (bytes * 1000) / window,
  };
}

export const isActive = (phase: Phase): boolean => phase !== 'idle' && phase !== 'stopped' && phase !== 'failed';
