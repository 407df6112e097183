// Decodes the states of a job's tasks: all of them with four bits each, or runs. src/common/protocol/watch.h describes the format.
import type { Snapshot } from '../../wire/watch';

export type WatchedJob = Snapshot['jobs'][number];
export type TaskMap = WatchedJob['map'];

/** The states in the order of their numbers in messages. */
export const taskStates = ['waiting', 'leased', 'checking', 'accepted', 'refused'] as const;
export type TaskState = (typeof taskStates)[number];

const letters = 'wlcar';
/** A limit above the number of tasks that the coordinator shows of all jobs together. */
export const tasksMax = 1_000_000;

/** Writes the states of the map into `tasks`. Throws if it is not a map of this number of tasks. */
export function applyMap(map: TaskMap, tasks: Uint8Array): void {
  if (map.packed !== '') {
    const bytes = atob(map.packed);
    if (bytes.length !== (tasks.length + 1) >> 1) throw new Error(`The map has ${bytes.length} bytes for ${tasks.length} tasks.`);
    for (let i = 0; i < tasks.length; i += 1) {
      const state = (bytes.charCodeAt(i >> 1) >> ((i & 1) * 4)) & 15;
      if (state >= taskStates.length) throw new Error(`Task ${i} is in the unknown state ${state}.`);
      tasks[i] = state;
    }
    return;
  }
  if (map.first.length !== map.state.length || map.count.length !== map.state.length) throw new Error('The columns of a map differ in length.');
  for (let run = 0; run < map.state.length; run += 1) {
    const first = map.first[run] ?? -1;
    const end = first + (map.count[run] ?? 0);
    const state = letters.indexOf(map.state.charAt(run));
    if (state < 0 || first < 0 || end > tasks.length) throw new Error('A run of a map passes the end of the job.');
    tasks.fill(state, first, end);
  }
}
