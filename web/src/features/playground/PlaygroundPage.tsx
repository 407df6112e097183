// The playground: write a shader, see it compile, run it on this machine, and submit it as a job.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../design/Button';
import { Notice } from '../../design/Notice';
import { Lab } from '../../engine/lab';
import { offerGpuSource } from '../../engine/gpuCounters';
import { BindingsForm } from './BindingsForm';
import { Diagnostics, summaryOf } from './Diagnostics';
import { Editor, type EditorHandle } from './Editor';
import { keepDraft, keptDraft } from './draft';
import { examples } from './examples';
import { Select, TextField } from './fields';
import { KernelForm } from './KernelForm';
import { JobPanel, type JobHandle } from './JobPanel';
import { problemsOf, toManifest, type Program } from './program';
import { save } from './ResultView';
import { RunForm } from './RunForm';
import { RunPanel } from './RunPanel';
import { fromFragment, LinkError, toFragment, withOwnTerms } from './share';
import { TunerPanel } from './TunerPanel';
import { useCompiler, useMachine, useRunner, useTuner } from './usePlayground';

const firstExample = examples[0] as (typeof examples)[number];

// One Lab for the visit, so that its device and compiled pipelines are kept when the visitor leaves the page and returns.
let visitLab: Lab | null = null;

export function PlaygroundPage({ base, lab: given }: { base: string; lab?: Lab }) {
  const lab = useMemo(() => given ?? (visitLab ??= new Lab()), [given]);
  const [program, setProgram] = useState<Program>(() => (given === undefined ? keptDraft() : null) ?? firstExample.program);
  /** True for a program from a link that the visitor has not taken over yet: it is only shown. */
  const [foreign, setForeign] = useState(false);
  const [linkTrouble, setLinkTrouble] = useState<string | null>(null);
  const machine = useMachine(lab);
  const ready = machine.state === 'ready';
  const problems = useMemo(() => problemsOf(program), [program]);
  const compiled = useCompiler(lab, program, ready && !foreign);
  const { running, ran, run, stop } = useRunner(lab);
  const { tuning, tune, forget } = useTuner(lab);
  const linked = useRef<Program | null>(null);
  const editor = useRef<EditorHandle>(null);
  const jobs = useRef<JobHandle>(null);

  useEffect(() => offerGpuSource(lab.source()), [lab]);
  useEffect(() => {
    // Opening a link does not change the draft; changing the link's program replaces the draft.
    if (given === undefined && program !== linked.current) keepDraft(program);
  }, [given, program]);

  const choose = useCallback(
    (next: Program) => {
      setProgram(next);
      setForeign(false);
      forget();
    },
    [forget],
  );

  useEffect(() => {
    let current = true;
    const read = () => {
      fromFragment(window.location.hash).then(
        (found) => {
          if (!current || found === null) return;
          setLinkTrouble(null);
          const terms = withOwnTerms(found);
          linked.current = terms;
          choose(terms);
          setForeign(true);
        },
        (error: unknown) => current && setLinkTrouble(error instanceof LinkError ? error.message : 'The link is damaged.'),
      );
    };
    read();
    window.addEventListener('hashchange', read);
    return () => {
      current = false;
      window.removeEventListener('hashchange', read);
    };
  }, [choose]);

  const runs = running.state === 'running';
  const runnable = ready && !foreign && problems.length === 0 && !runs;
  const runNow = useCallback(() => {
    if (runnable) run(program);
  }, [runnable, run, program]);

  const submittable = !foreign && problems.length === 0 && machine.state !== 'opening' && !(machine.state === 'none' && machine.missing);
  const summary = foreign ? ({ words: 'From a link', tone: 'plain' } as const) : summaryOf(machine, compiled);
  const chosen = examples.findIndex((example) => example.program.name === program.name);
  const tones = { good: 'text-leaf', bad: 'text-madder', plain: 'text-soft' } as const;

  return (
    <main className="pt-4 pb-20">
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div>
          <h1 className="text-2xl font-semibold tracking-tight">Playground</h1>
          <p className="mt-0.5 text-sm text-soft" data-testid="machine">
            {machine.state === 'ready' ? (
              <>
                Runs on <span className="text-ink">{machine.device.device.description}</span>, timed by {machine.device.timestamps ? "the GPU's own clock" : 'the wall clock'}
              </>
            ) : machine.state === 'opening' ? (
              'Opening the GPU…'
            ) : (
              'Write WGSL; run it where there is WebGPU'
            )}
          </p>
        </div>
        <div className="flex flex-wrap items-end gap-2">
          <Select
            className="w-44"
            label="Example"
            hidden
            value={String(chosen)}
            options={[...(chosen < 0 ? [['-1', 'Your own program'] as const] : []), ...examples.map((example, i) => [String(i), example.title] as const)]}
            onChange={(value) => {
              const example = examples[Number(value)];
              if (example !== undefined) choose(example.program);
            }}
          />
          <TextField className="w-36" label="Name" hidden value={program.name} onChange={(name) => setProgram({ ...program, name })} invalid={problems.some((problem) => problem.where === 'name')} />
          <ShareButton program={program} />
          <Button look="small" className="h-9" onClick={() => save(toManifest(program), `${program.name}.json`)} disabled={problems.length > 0}>
            Save manifest
          </Button>
        </div>
      </div>
      {linkTrouble !== null ? (
        <Notice tone="warn" title="The link carries no program" className="mt-4">
          <p>{linkTrouble}</p>
        </Notice>
      ) : null}

      {foreign ? (
        <Notice tone="warn" title="This program comes from a link" className="mt-4">
          <p>
            It is compiled on your GPU, run, and made a job only after you take it over. The link&rsquo;s budget and replicas are left out.{' '}
            <Button look="small" onClick={() => setForeign(false)}>
              Take it over
            </Button>
          </p>
        </Notice>
      ) : null}

      <div className="mt-5 grid gap-x-8 gap-y-8 lg:grid-cols-[minmax(0,11fr)_minmax(0,9fr)]">
        <div className="min-w-0 self-start overflow-hidden rounded-md border border-line bg-panel">
          <div className="flex items-center justify-between gap-3 border-b border-line py-2 pr-2 pl-4">
            <p className={`text-sm ${tones[summary.tone]}`} role="status" data-testid="compiled" data-tone={summary.tone}>
              {summary.words}
            </p>
            <div className="flex gap-2">
              <Button look="small" className="h-9" onClick={() => jobs.current?.submit()} disabled={!submittable || summary.tone === 'bad'}>
                Make it a job
              </Button>
              {runs ? (
                <Button look="small" className="h-9 min-w-24" onClick={stop}>
                  Stop
                </Button>
              ) : (
                <button
                  type="button"
                  onClick={runNow}
                  disabled={!runnable || summary.tone === 'bad'}
                  className="h-9 min-w-24 rounded bg-weld px-5 text-sm font-semibold text-on-weld shadow-[inset_0_-2px_0_rgb(0_0_0/0.16)] transition-colors hover:bg-weld-deep active:translate-y-px disabled:opacity-55"
                  title="Ctrl or ⌘ and Enter"
                >
                  Run
                </button>
              )}
            </div>
          </div>
          {program.kernel !== undefined ? (
            <KernelForm kernel={program.kernel} tasks={program.split.tasks} problems={problems} onChange={(kernel) => setProgram({ ...program, kernel })} onTasks={(tasks) => setProgram({ ...program, split: { ...program.split, tasks } })} />
          ) : (
          <div className="h-[24rem] bg-ground/40 lg:h-[32rem]">
            <Editor text={program.wgsl} messages={compiled.state === 'done' ? compiled.messages : []} onChange={(wgsl) => setProgram((before) => ({ ...before, wgsl }))} onRun={runNow} handle={editor} />
          </div>
          )}
          <Diagnostics compiled={compiled} onGoTo={(line, column) => editor.current?.goTo(line, column)} />
        </div>
        <RunPanel machine={machine} running={running} ran={ran} />
      </div>

      <div className="mt-12 grid gap-x-8 gap-y-12 lg:grid-cols-[minmax(0,11fr)_minmax(0,9fr)]">
        <div className="min-w-0 space-y-12">
          {program.kernel === undefined ? (
            <>
              <BindingsForm program={program} problems={problems} onChange={setProgram} />
              <TunerPanel program={program} tuning={tuning} ready={ready && problems.length === 0 && !runs} onChange={setProgram} onTune={() => tune(program)} />
            </>
          ) : null}
        </div>
        <div className="min-w-0 space-y-12">
          {program.kernel === undefined ? <RunForm program={program} problems={problems} onChange={setProgram} /> : null}
          <JobPanel handle={jobs} lab={lab} base={base} program={program} ready={submittable} onChange={setProgram} />
        </div>
      </div>
    </main>
  );
}

function ShareButton({ program }: { program: Program }) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => setSaid(null), [program]);
  const share = async () => {
    try {
      const fragment = await toFragment(program);
      window.history.replaceState(null, '', `#${fragment}`);
      // If the clipboard is not allowed, the link is still in the address bar.
      const copied = await navigator.clipboard.writeText(window.location.href).then(
        () => true,
        () => false,
      );
      setSaid(copied ? 'Link copied' : 'Link in the address bar');
    } catch (error) {
      setSaid(error instanceof LinkError ? error.message : 'The link cannot be made.');
    }
  };
  return (
    <>
      <Button look="small" className="h-9" onClick={() => void share()}>
        Share
      </Button>
      {said !== null ? (
        <p role="status" className="max-w-64 self-center text-sm text-soft">
          {said}
        </p>
      ) : null}
    </>
  );
}
