// The latest tasks of this tab, newest first.
import { formatCredits, formatSeconds } from '../../design/format';
import type { TaskRecord, TaskState } from '../../engine/session';

const shown = 8;
const words: Record<TaskState, string> = {
  running: 'running',
  checking: 'checking',
  accepted: 'accepted',
  refused: 'refused',
  failed: 'failed',
};
const colours: Record<TaskState, string> = { running: '', checking: 'text-soft', accepted: 'text-leaf', refused: 'text-madder', failed: 'text-madder' };

type Props = { tasks: readonly TaskRecord[]; now: number };

export function RecentTasks({ tasks, now }: Props) {
  return (
    <section aria-labelledby="tasks-title" className="mt-12">
      <h2 id="tasks-title" className="text-xl font-semibold tracking-tight">
        Last tasks
      </h2>
      <table className="mt-3 w-full text-left">
        <thead className="text-sm text-soft">
          <tr className="border-b border-line">
            <th className="py-2 pr-4 font-medium">Job</th>
            <th className="py-2 pr-4 font-medium">Task</th>
            <th className="hidden py-2 pr-4 font-medium sm:table-cell">Time</th>
            <th className="py-2 pr-4 font-medium">State</th>
            <th className="py-2 text-right font-medium">Credits</th>
          </tr>
        </thead>
        <tbody>
          {tasks.slice(0, shown).map((task) => (
            <tr key={`${task.job}/${task.index}/${task.attempt}`} className="border-b border-line">
              <td className="py-2 pr-4 font-mono text-sm" title={task.job}>
                {task.job.slice(0, 8)}
              </td>
              <td className="py-2 pr-4 font-mono text-sm tabular-nums">{task.index + 1}</td>
              <td className="hidden py-2 pr-4 font-mono text-sm tabular-nums sm:table-cell">{formatSeconds(Math.max(0, (task.endedAt ?? now) - task.startedAt) / 1000)}</td>
              <td className={`py-2 pr-4 ${colours[task.state]}`} title={task.note || undefined}>
                {words[task.state]}
              </td>
              <td className="py-2 text-right font-mono text-sm tabular-nums">{task.paid > 0 ? formatCredits(task.paid) : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
