// The form for the shader's bindings: a row for each with its number, role, type, shape and source of data.
import { Button } from '../../design/Button';
import { formatBytes } from '../../design/format';
import { elementTypes, toBase64, type ElementType, type Fill, type FillKind } from './data';
import { NumberField, ParsedField, Select, TextField, parseList, parseWhole } from './fields';
import { bindingBytes, bounds, isOutput, roles, type Binding, type Join, type Problem, type Program, type Role } from './program';

type Props = { readonly program: Program; readonly problems: readonly Problem[]; readonly onChange: (program: Program) => void };

const fillNames: Record<FillKind, string> = { numbers: 'Numbers', count: 'Counting', random: 'Random', zeros: 'Zeros', bytes: 'File' };
const joinNames: Record<Join, string> = { cut: 'cut with the job', concat: 'one a task, joined', none: 'whole' };

function freshFill(kind: FillKind): Fill {
  switch (kind) {
    case 'numbers':
      return { kind, text: '' };
    case 'count':
      return { kind, first: 0, step: 1 };
    case 'random':
      return { kind, seed: 1, low: 0, high: 1 };
    case 'zeros':
      return { kind };
    case 'bytes':
      return { kind, base64: '', name: '' };
  }
}

export function BindingsForm({ program, problems, onChange }: Props) {
  const set = (index: number, change: Partial<Binding>) =>
    onChange({ ...program, bindings: program.bindings.map((one, i) => (i === index ? { ...one, ...change } : one)) });
  const add = () => {
    const number = Math.max(-1, ...program.bindings.map((one) => one.binding)) + 1;
    onChange({ ...program, bindings: [...program.bindings, { binding: number, role: 'input', type: 'f32', shape: [64], fill: { kind: 'zeros' }, join: 'cut' }] });
  };
  return (
    <section aria-labelledby="bindings-title">
      <div className="flex min-h-9 items-center justify-between">
        <h2 id="bindings-title" className="text-lg font-semibold tracking-tight">
          Bindings
        </h2>
        <Button look="small" onClick={add} disabled={program.bindings.length >= bounds.bindings}>
          Add a binding
        </Button>
      </div>
      <ul className="mt-3 divide-y divide-line border-y border-line">
        {program.bindings.map((binding, i) => (
          <BindingRow
            key={i}
            binding={binding}
            problem={problems.find((problem) => problem.where === `bindings.${i}`)?.text}
            onChange={(change) => set(i, change)}
            onRemove={() => onChange({ ...program, bindings: program.bindings.filter((_, at) => at !== i) })}
          />
        ))}
      </ul>
      {problems
        .filter((problem) => problem.where === 'bindings')
        .map((problem) => (
          <p key={problem.text} className="mt-2 text-sm text-madder">
            {problem.text}
          </p>
        ))}
    </section>
  );
}

type RowProps = { readonly binding: Binding; readonly problem: string | undefined; readonly onChange: (change: Partial<Binding>) => void; readonly onRemove: () => void };

function BindingRow({ binding, problem, onChange, onRemove }: RowProps) {
  return (
    <li className="py-3" data-testid={`binding-${binding.binding}`} aria-label={`Binding ${binding.binding}`}>
      <div className="grid grid-cols-[3.5rem_1fr_1fr] items-end gap-2 sm:grid-cols-[3.5rem_6.5rem_5rem_minmax(7rem,1fr)_auto]">
        <NumberField label="Number" value={binding.binding} whole onChange={(value) => onChange({ binding: value })} />
        <Select label="Role" value={binding.role} options={roles.map((role) => [role, role])} onChange={(value) => onChange({ role: value as Role })} />
        <Select label="Type" value={binding.type} options={elementTypes.map((type) => [type, type])} onChange={(value) => onChange({ type: value as ElementType })} />
        <ParsedField
          className="col-span-2 sm:col-span-1"
          label="Shape"
          value={binding.shape}
          format={(shape) => shape.join(' × ')}
          parse={parseList}
          onChange={(shape) => onChange({ shape: shape.slice(0, bounds.dimensions) })}
        />
        <button
          type="button"
          className="h-9 justify-self-end rounded px-2 text-sm text-soft hover:text-madder"
          aria-label={`Remove binding ${binding.binding}`}
          onClick={onRemove}
        >
          Remove
        </button>
      </div>
      <div className="mt-2 flex flex-wrap items-end gap-2">
        {binding.role === 'output' ? null : <FillFields fill={binding.fill} onChange={(fill) => onChange({ fill })} />}
        {isOutput(binding) ? (
          <Select
            className="w-44"
            label="Over several tasks"
            value={binding.join}
            options={Object.entries(joinNames)}
            onChange={(value) => onChange({ join: value as Join })}
          />
        ) : null}
        <p className="ml-auto pb-2 font-mono text-xs text-soft">{formatBytes(bindingBytes(binding))}</p>
      </div>
      {problem ? (
        <p role="alert" className="mt-2 text-sm text-madder">
          {problem}
        </p>
      ) : null}
    </li>
  );
}

function FillFields({ fill, onChange }: { fill: Fill; onChange: (fill: Fill) => void }) {
  return (
    <>
      <Select className="w-28" label="Data" value={fill.kind} options={Object.entries(fillNames)} onChange={(value) => onChange(freshFill(value as FillKind))} />
      {fill.kind === 'numbers' ? (
        <TextField className="min-w-40 flex-1" label="Numbers" placeholder="1, 2, 3" value={fill.text} onChange={(text) => onChange({ ...fill, text })} />
      ) : null}
      {fill.kind === 'count' ? (
        <>
          <NumberField className="w-24" label="First" value={fill.first} onChange={(first) => onChange({ ...fill, first })} />
          <NumberField className="w-24" label="Step" value={fill.step} onChange={(step) => onChange({ ...fill, step })} />
        </>
      ) : null}
      {fill.kind === 'random' ? (
        <>
          <NumberField className="w-20" label="From" value={fill.low} onChange={(low) => onChange({ ...fill, low })} />
          <NumberField className="w-20" label="To" value={fill.high} onChange={(high) => onChange({ ...fill, high })} />
          <ParsedField className="w-20" label="Seed" value={fill.seed} format={String} parse={(text) => { const seed = parseWhole(text); return seed !== null && seed >= 0 && seed < 2 ** 32 ? seed : null; }} onChange={(seed) => onChange({ ...fill, seed })} />
        </>
      ) : null}
      {fill.kind === 'bytes' ? (
        <label className="flex min-w-40 flex-1 items-center gap-2 text-sm text-soft">
          <input
            type="file"
            className="max-w-full text-xs file:mr-2 file:rounded file:border file:border-line file:bg-panel file:px-2 file:py-1.5 file:text-ink"
            aria-label="File with the data"
            onChange={(event) => {
              const [file] = event.target.files ?? [];
              if (file === undefined || file.size > bounds.bytes) return;
              void file.arrayBuffer().then((buffer) => onChange({ kind: 'bytes', base64: toBase64(new Uint8Array(buffer)), name: file.name }));
            }}
          />
          {fill.name}
        </label>
      ) : null}
    </>
  );
}
