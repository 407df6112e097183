// Shows the compiler's messages below the editor. A click on a message goes to its place in the text.
import type { CompileMessage } from '../../engine/labMessages';
import { plural } from '../../design/format';
import type { Compiled, Machine } from './usePlayground';

const dots: Record<CompileMessage['kind'], string> = { error: 'bg-madder', warning: 'bg-weld', info: 'bg-line' };

export function summaryOf(machine: Machine, compiled: Compiled): { readonly words: string; readonly tone: 'good' | 'bad' | 'plain' } {
  if (machine.state === 'none') return { words: 'Not compiled', tone: 'plain' };
  if (machine.state === 'opening') return { words: 'Opening the GPU…', tone: 'plain' };
  if (compiled.state !== 'done') return { words: 'Compiling…', tone: 'plain' };
  const errors = compiled.messages.filter((message) => message.kind === 'error').length;
  if (errors > 0) return { words: plural(errors, 'error'), tone: 'bad' };
  if (compiled.complaint !== null) return { words: 'Does not fit', tone: 'bad' };
  const warnings = compiled.messages.filter((message) => message.kind === 'warning').length;
  return { words: warnings > 0 ? `Compiles, ${plural(warnings, 'warning')}` : 'Compiles', tone: 'good' };
}

export function Diagnostics({ compiled, onGoTo }: { compiled: Compiled; onGoTo: (line: number, column: number) => void }) {
  if (compiled.state !== 'done' || (compiled.messages.length === 0 && compiled.complaint === null)) return null;
  return (
    <ul className="max-h-36 overflow-auto border-t border-line bg-panel py-1 text-sm" data-testid="diagnostics" aria-label="What the compiler says">
      {compiled.messages.map((message, i) => (
        <li key={i}>
          <button type="button" className="flex w-full items-baseline gap-2.5 px-4 py-1 text-left hover:bg-sunk" onClick={() => onGoTo(message.line, message.column)}>
            <span className={`size-2 shrink-0 rounded-full ${dots[message.kind]}`} aria-hidden="true" />
            <span className="font-mono text-xs whitespace-nowrap text-soft">
              <span className="sr-only">{message.kind} at </span>
              {message.line}:{message.column}
            </span>
            <span className="min-w-0 font-mono text-[0.8rem]">{message.text}</span>
          </button>
        </li>
      ))}
      {compiled.complaint === null ? null : (
        <li className="flex items-baseline gap-2.5 px-4 py-1">
          <span className="size-2 shrink-0 rounded-full bg-madder" aria-hidden="true" />
          <span className="min-w-0 text-[0.9rem]">{compiled.complaint}</span>
        </li>
      )}
    </ul>
  );
}
