// The form for dispatches, the division into tasks, and override constants.
import { Button } from '../../design/Button';
import { NumberField, ParsedField, Select, TextField, parseList, parseNumber } from './fields';
import { axes, bounds, type Axis, type Problem, type Program, type Step } from './program';

type Props = { readonly program: Program; readonly problems: readonly Problem[]; readonly onChange: (program: Program) => void };

function parseDispatch(text: string): readonly [number, number, number] | null {
  const numbers = parseList(text);
  if (numbers === null || numbers.length > 3) return null;
  const [x = 1, y = 1, z = 1] = numbers;
  return [x, y, z];
}

/** Reads a number of operations. An empty text is valid and means that the number is not known. */
function parseOperations(text: string): { readonly count: number | null } | null {
  if (text.trim() === '') return { count: null };
  const count = parseNumber(text);
  return count !== null && count >= 0 ? { count } : null;
}

export function RunForm({ program, problems, onChange }: Props) {
  const setStep = (index: number, change: Partial<Step>) =>
    onChange({ ...program, steps: program.steps.map((one, i) => (i === index ? { ...one, ...change } : one)) });
  const setConstant = (index: number, change: Partial<Program['constants'][number]>) =>
    onChange({ ...program, constants: program.constants.map((one, i) => (i === index ? { ...one, ...change } : one)) });
  return (
    <section aria-labelledby="dispatch-title">
      <h2 id="dispatch-title" className="flex min-h-9 items-center text-lg font-semibold tracking-tight">
        Dispatch
      </h2>
      <ul className="mt-3 space-y-2">
        {program.steps.map((step, i) => (
          <li key={i} className="flex items-end gap-2">
            <TextField className="w-32" label="Entry point" value={step.entry} onChange={(entry) => setStep(i, { entry })} />
            <ParsedField className="flex-1" label="Workgroups" value={step.dispatch} format={(dispatch) => dispatch.join(' × ')} parse={parseDispatch} onChange={(dispatch) => setStep(i, { dispatch })} />
            {program.steps.length > 1 ? (
              <button
                type="button"
                className="h-9 px-2 text-sm text-soft hover:text-madder"
                aria-label={`Remove step ${i + 1}`}
                onClick={() => onChange({ ...program, steps: program.steps.filter((_, at) => at !== i) })}
              >
                Remove
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      <div className="mt-3 grid grid-cols-2 gap-2">
        <NumberField label="Tasks of a job" value={program.split.tasks} whole onChange={(tasks) => onChange({ ...program, split: { ...program.split, tasks } })} />
        <Select
          label="Cut along"
          value={program.split.axis}
          options={axes.map((axis) => [axis, axis])}
          onChange={(axis) => onChange({ ...program, split: { ...program.split, axis: axis as Axis } })}
        />
      </div>
      {program.constants.length > 0 ? (
        <ul className="mt-3 space-y-2">
          {program.constants.map((constant, i) => (
            <li key={i} className="flex items-end gap-2">
              <TextField className="flex-1" label="Override" value={constant.name} onChange={(name) => setConstant(i, { name })} />
              <NumberField className="w-28" label="Value" value={constant.value} onChange={(value) => setConstant(i, { value })} />
              <button
                type="button"
                className="h-9 px-2 text-sm text-soft hover:text-madder"
                aria-label={`Remove override ${constant.name || i + 1}`}
                onClick={() => onChange({ ...program, constants: program.constants.filter((_, at) => at !== i) })}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <div className="mt-3 flex flex-wrap gap-2">
        <Button
          look="small"
          disabled={program.steps.length >= bounds.steps}
          onClick={() => onChange({ ...program, steps: [...program.steps, { entry: 'main', dispatch: [1, 1, 1] }] })}
        >
          Add a step
        </Button>
        <Button
          look="small"
          disabled={program.constants.length >= bounds.constants}
          onClick={() => onChange({ ...program, constants: [...program.constants, { name: '', value: 0 }] })}
        >
          Set an override
        </Button>
      </div>
      <ParsedField
        className="mt-4 w-56"
        label="Operations of one run"
        value={{ count: program.operations }}
        placeholder="unknown"
        format={({ count }) => (count === null ? '' : String(count))}
        parse={parseOperations}
        onChange={({ count }) => onChange({ ...program, operations: count })}
      />
      <p className="mt-1.5 max-w-prose text-sm text-soft">No compiler tells how many operations a shader does. Where you can, runs find their place on the roofline in DevTools.</p>
      {problems
        .filter((problem) => problem.where.startsWith('steps') || problem.where === 'split')
        .map((problem) => (
          <p key={problem.where} role="alert" className="mt-2 text-sm text-madder">
            {problem.text}
          </p>
        ))}
    </section>
  );
}
