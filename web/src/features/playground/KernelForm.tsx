// The form for the sizes and operands of a built-in kernel, which replaces the editor.
import type { Fill } from './data';
import { NumberField, Select } from './fields';
import type { Kernel, Problem } from './program';

type Props = { readonly kernel: Kernel; readonly tasks: number; readonly problems: readonly Problem[]; readonly onChange: (kernel: Kernel) => void; readonly onTasks: (tasks: number) => void };

const sides = [
  ['m', 'Rows of A and C (m)'],
  ['k', 'Columns of A (k)'],
  ['n', 'Columns of B and C (n)'],
] as const;
const fills = [
  ['random', 'random'],
  ['count', 'counting'],
  ['zeros', 'zeros'],
] as const;

export function KernelForm({ kernel, tasks, problems, onChange, onTasks }: Props) {
  const wrong = problems.filter(({ where }) => where === 'kernel' || where === 'split');
  return (
    <div className="space-y-5 p-4" data-testid="kernel-form">
      <p className="max-w-prose text-sm text-soft">
        <span className="font-mono text-ink">matmul_i8</span> is C = A × B, of 8-bit integers into 32-bit ones. It runs on GPUs and on processors, to the same bytes, and a coordinator checks it by arithmetic.
      </p>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-4">
        {sides.map(([side, label]) => (
          <NumberField key={side} label={label} value={kernel[side]} whole onChange={(value) => onChange({ ...kernel, [side]: value })} />
        ))}
        <NumberField label="Tasks of a job" value={tasks} whole onChange={onTasks} />
      </div>
      <Operand label="A" fill={kernel.a} onChange={(a) => onChange({ ...kernel, a })} />
      <Operand label="B" fill={kernel.b} onChange={(b) => onChange({ ...kernel, b })} />
      {wrong.length > 0 ? (
        <p role="alert" className="text-sm text-madder">
          {wrong[0]?.text}
        </p>
      ) : null}
    </div>
  );
}

function fillOf(kind: string): Fill {
  if (kind === 'random') return { kind, seed: 1, low: -127, high: 127 };
  return kind === 'count' ? { kind, first: 0, step: 1 } : { kind: 'zeros' };
}

function Operand({ label, fill, onChange }: { label: string; fill: Fill; onChange: (fill: Fill) => void }) {
  return (
    <div className="grid grid-cols-2 items-end gap-2 sm:grid-cols-4">
      <Select label={`Matrix ${label}`} value={fill.kind} options={fills} onChange={(kind) => onChange(fillOf(kind))} />
      {fill.kind === 'random' ? (
        <>
          <NumberField label={`Seed of ${label}`} value={fill.seed} whole onChange={(seed) => onChange({ ...fill, seed })} />
          <NumberField label={`Least of ${label}`} value={fill.low} whole onChange={(low) => onChange({ ...fill, low })} />
          <NumberField label={`Most of ${label}`} value={fill.high} whole onChange={(high) => onChange({ ...fill, high })} />
        </>
      ) : fill.kind === 'count' ? (
        <>
          <NumberField label={`First of ${label}`} value={fill.first} whole onChange={(first) => onChange({ ...fill, first })} />
          <NumberField label={`Step of ${label}`} value={fill.step} whole onChange={(step) => onChange({ ...fill, step })} />
        </>
      ) : null}
    </div>
  );
}
