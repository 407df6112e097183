// Measures the overrides that a worker may choose for the program: every combination, its best time, and the fastest.
import { max } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import { Button } from '../../design/Button';
import { formatSeconds } from '../../design/format';
import { ParsedField, TextField, parseList } from './fields';
import { combinations, type Program } from './program';
import type { Trial, Tuning } from './usePlayground';

type Props = {
  readonly program: Program;
  readonly tuning: Tuning;
  readonly ready: boolean;
  readonly onChange: (program: Program) => void;
  readonly onTune: () => void;
};

const nameOf = (trial: Trial): string => Object.entries(trial.overrides).map(([name, value]) => `${name} ${value}`).join(', ');

export function TunerPanel({ program, tuning, ready, onChange, onTune }: Props) {
  const choices = combinations(program).length;
  const best = tuning.trials.filter((trial) => trial.seconds !== null && trial.note === '').sort((a, b) => (a.seconds ?? 0) - (b.seconds ?? 0))[0];
  const keep = () => {
    if (best === undefined) return;
    const others = program.constants.filter(({ name }) => !(name in best.overrides));
    onChange({ ...program, tune: [], constants: [...others, ...Object.entries(best.overrides).map(([name, value]) => ({ name, value }))] });
  };
  return (
    <section aria-labelledby="tuner-title" data-testid="tuner">
      <div className="flex items-center justify-between gap-3">
        <h2 id="tuner-title" className="text-lg font-semibold tracking-tight">
          Workgroup-size tuner
        </h2>
        {program.tune.length > 0 ? (
          <Button look="small" onClick={onTune} disabled={!ready || tuning.state === 'measuring'}>
            {tuning.state === 'measuring' ? `${tuning.trials.length} of ${choices} measured…` : `Measure ${choices} choices`}
          </Button>
        ) : (
          <Button look="small" onClick={() => onChange({ ...program, tune: [{ name: 'wg', values: [32, 64, 128, 256] }] })}>
            Leave an override open
          </Button>
        )}
      </div>
      {program.tune.length === 0 ? (
        <p className="mt-2 max-w-prose text-sm text-soft">
          Write <code className="font-mono text-[0.9em] text-ink">override wg: u32 = 64;</code>, use it as{' '}
          <code className="font-mono text-[0.9em] text-ink">@workgroup_size(wg)</code>, and leave its value to the machine. The results must not depend on it.
        </p>
      ) : (
        <ul className="mt-3 space-y-2">
          {program.tune.map((choice, i) => (
            <li key={i} className="flex items-end gap-2">
              <TextField className="w-32" label="Override" value={choice.name} onChange={(name) => onChange({ ...program, tune: program.tune.map((one, at) => (at === i ? { ...one, name } : one)) })} />
              <ParsedField
                className="flex-1"
                label="Choices"
                value={choice.values}
                format={(values) => values.join(', ')}
                parse={parseList}
                onChange={(values) => onChange({ ...program, tune: program.tune.map((one, at) => (at === i ? { ...one, values } : one)) })}
              />
              <button
                type="button"
                className="h-9 px-2 text-sm text-soft hover:text-madder"
                aria-label={`Close the choice of ${choice.name || 'the override'}`}
                onClick={() => onChange({ ...program, tune: program.tune.filter((_, at) => at !== i) })}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
      {tuning.trials.length > 0 ? <Trials trials={tuning.trials} best={best} /> : null}
      {tuning.state === 'done' && best !== undefined && program.tune.length > 0 ? (
        <div className="mt-3 flex flex-wrap items-center gap-3 text-sm" role="status">
          <p>
            Fastest here: <strong className="font-semibold">{nameOf(best)}</strong>, {formatSeconds(best.seconds ?? 0)}
            <span className="text-soft"> {best.byTimestamps ? "by the GPU's clock" : 'by the wall clock'}</span>
          </p>
          <Button look="small" onClick={keep}>
            Fix it
          </Button>
        </div>
      ) : null}
    </section>
  );
}

function Trials({ trials, best }: { trials: readonly Trial[]; best: Trial | undefined }) {
  const length = scaleLinear([0, max(trials, (trial) => trial.seconds ?? 0) || 1], [0, 100]);
  return (
    <table className="mt-4 w-full text-sm">
      <caption className="sr-only">Time of each choice</caption>
      <tbody>
        {trials.map((trial) => (
          <tr key={nameOf(trial)}>
            <th scope="row" className="w-28 py-1 pr-3 text-left font-mono text-xs font-normal whitespace-nowrap">
              {nameOf(trial)}
            </th>
            <td className="py-1">
              {trial.seconds === null ? (
                <span className="text-madder">{trial.note}</span>
              ) : (
                <svg viewBox="0 0 100 6" preserveAspectRatio="none" className="block h-3 w-full" aria-hidden="true">
                  <rect width={length(trial.seconds)} height="6" fill={trial === best ? 'var(--weld)' : 'var(--warp)'} />
                </svg>
              )}
              {trial.seconds !== null && trial.note !== '' ? <span className="text-xs text-madder">{trial.note}</span> : null}
            </td>
            <td className="w-24 py-1 pl-3 text-right font-mono text-xs tabular-nums">{trial.seconds === null ? '' : formatSeconds(trial.seconds)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
