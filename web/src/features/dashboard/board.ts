// The state of the network as the coordinator last reported it: one snapshot, to which every later delta is applied. Grids of tasks are
// changed in place, because copying 100,000 tasks four times a second would be a waste; `version` changes with every change.
import type { Delta, Snapshot } from '../../wire/watch';
import { applyMap, tasksMax, type WatchedJob } from './tasks';

export type BoardJob = { readonly head: WatchedJob; readonly tasks: Uint8Array; readonly version: number };

export type BoardWorker = Snapshot['workers'][number] & {
  readonly held: number;
  readonly slots: number;
  readonly accepted: number;
  readonly refused: number;
  readonly balance: number;
  readonly rate: number;
  /** Negative while it is not known. */
  readonly roundTripMs: number;
};

export type Row = {
  readonly time: number;
  readonly accepted: number;
  readonly refused: number;
  readonly paid: number;
  readonly latencyMs: number;
  readonly latencyHighMs: number;
  readonly workers: number;
  readonly open: number;
  readonly perUnit: number;
};

export type Board = {
  readonly sequence: number;
  readonly time: number;
  readonly jobsRunning: number;
  /** The newest job is first. */
  readonly jobs: readonly BoardJob[];
  readonly workers: ReadonlyMap<number, BoardWorker>;
  /** Increases when workers join, leave or change. */
  readonly workersVersion: number;
  /** One row for each second, the oldest first. */
  readonly history: readonly Row[];
};

const historyMax = 600;

function rowsOf(history: Snapshot['history']): Row[] {
  return history.time.map((time, i) => ({
    time,
    accepted: history.accepted[i] ?? 0,
    refused: history.refused[i] ?? 0,
    paid: history.paid[i] ?? 0,
    latencyMs: history.latency_ms[i] ?? 0,
    latencyHighMs: history.latency_high_ms[i] ?? 0,
    workers: history.workers[i] ?? 0,
    open: history.open[i] ?? 0,
    perUnit: history.per_unit[i] ?? 0,
  }));
}

function take(job: WatchedJob, before: BoardJob | undefined): BoardJob {
  if (!Number.isInteger(job.tasks) || job.tasks < 0 || (job.mapped && job.tasks > tasksMax)) throw new Error('A job has an impossible number of tasks.');
  const tasks = before?.tasks ?? new Uint8Array(job.mapped ? job.tasks : 0);
  if (job.mapped) applyMap(job.map, tasks);
  return { head: job, tasks, version: (before?.version ?? 0) + 1 };
}

const newestFirst = (a: BoardJob, b: BoardJob) => b.head.created - a.head.created || (a.head.id < b.head.id ? 1 : -1);

function load(workers: Map<number, BoardWorker>, loads: Snapshot['loads']): void {
  loads.number.forEach((number, i) => {
    const worker = workers.get(number);
    if (worker === undefined) throw new Error(`Worker ${number} has a load, but the coordinator has not described the worker.`);
    workers.set(number, {
      ...worker,
      held: loads.held[i] ?? 0,
      slots: loads.slots[i] ?? 0,
      accepted: loads.accepted[i] ?? 0,
      refused: loads.refused[i] ?? 0,
      rate: loads.rate[i] ?? 0,
      roundTripMs: loads.round_trip_ms[i] ?? -1,
    });
  });
}

const idle = { held: 0, slots: 0, accepted: 0, refused: 0, balance: 0, rate: 0, roundTripMs: -1 };

export function boardOf(snapshot: Snapshot): Board {
  const workers = new Map<number, BoardWorker>();
  for (const worker of snapshot.workers) workers.set(worker.number, { ...worker, ...idle });
  load(workers, snapshot.loads);
  return {
    sequence: snapshot.sequence,
    time: snapshot.time,
    jobsRunning: snapshot.jobs_running,
    jobs: snapshot.jobs.map((job) => take(job, undefined)).sort(newestFirst),
    workers,
    workersVersion: snapshot.sequence,
    history: rowsOf(snapshot.history).slice(-historyMax),
  };
}

/**
 * Applies a delta and takes over the old board. Throws if the delta does not follow the board; the caller must then request a snapshot.
 */
export function advance(board: Board, delta: Delta): Board {
  if (delta.sequence !== board.sequence + 1) throw new Error(`Message ${board.sequence + 1} was expected and message ${delta.sequence} arrived.`);
  let { jobs, workers, workersVersion } = board;
  if (delta.jobs.length > 0 || delta.jobs_gone.length > 0) {
    const known = new Map(jobs.map((job) => [job.head.id, job]));
    for (const id of delta.jobs_gone) known.delete(id);
    for (const job of delta.jobs) known.set(job.id, take(job, known.get(job.id)));
    jobs = [...known.values()].sort(newestFirst);
  }
  if (delta.left.length > 0 || delta.joined.length > 0 || delta.loads.number.length > 0) {
    // The map is changed in place, so that 5,000 entries are not copied for one that changed.
    const changing = workers as Map<number, BoardWorker>;
    for (const number of delta.left) changing.delete(number);
    for (const worker of delta.joined) changing.set(worker.number, { ...worker, ...idle });
    load(changing, delta.loads);
    workers = changing;
    workersVersion = delta.sequence;
  }
  const rows = rowsOf(delta.history);
  return {
    sequence: delta.sequence,
    time: delta.time,
    jobsRunning: delta.jobs_running,
    jobs,
    workers,
    workersVersion,
    history: rows.length === 0 ? board.history : [...board.history, ...rows].slice(-historyMax),
  };
}
