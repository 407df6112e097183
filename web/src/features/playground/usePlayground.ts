// The state of the playground: the program, the compiler's messages about it, and the latest run.
import { useCallback, useEffect, useRef, useState } from 'react';
import { LabEnded, LabMissing, type Lab } from '../../engine/lab';
import type { CompileMessage, LabDevice, LabRun } from '../../engine/labMessages';
import { bytesMoved, combinations, operationsOf, problemsOf, toManifest, type Program } from './program';

export type Compiled =
  | { readonly state: 'waiting' }
  | { readonly state: 'compiling' }
  /** `complaint`: the text compiles but does not fit its bindings or this device. */
  | { readonly state: 'done'; readonly messages: readonly CompileMessage[]; readonly complaint: string | null };

export type Machine =
  | { readonly state: 'opening' }
  | { readonly state: 'ready'; readonly device: LabDevice }
  | { readonly state: 'none'; readonly why: string; readonly missing: boolean };

export type Ran = { readonly run: LabRun; readonly program: Program };
export type Running = { readonly state: 'idle' } | { readonly state: 'running' } | { readonly state: 'failed'; readonly message: string };

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const typingMs = 250;

export function useMachine(lab: Lab): Machine {
  const [machine, setMachine] = useState<Machine>({ state: 'opening' });
  useEffect(() => {
    let current = true;
    lab.open().then(
      (device) => current && setMachine({ state: 'ready', device }),
      (error: unknown) => {
        if (current && !(error instanceof LabEnded)) setMachine({ state: 'none', why: sentence(error), missing: error instanceof LabMissing });
      },
    );
    return () => {
      current = false;
    };
  }, [lab]);
  return machine;
}

/** Compiles the text a moment after the last key press and, if it compiles, checks it against its bindings. */
export function useCompiler(lab: Lab, program: Program, ready: boolean): Compiled {
  const [compiled, setCompiled] = useState<Compiled>({ state: 'waiting' });
  const seen = useRef(0);
  useEffect(() => {
    if (!ready) return undefined;
    const turn = (seen.current += 1);
    const isCurrent = () => seen.current === turn;
    const timer = setTimeout(() => {
      setCompiled((before) => (before.state === 'done' ? before : { state: 'compiling' }));
      const work = async (): Promise<Compiled> => {
        const { messages } = program.kernel === undefined ? await lab.call('compile', program.wgsl) : { messages: [] };
        if (messages.some((message) => message.kind === 'error') || problemsOf(program).length > 0) return { state: 'done', messages, complaint: null };
        const complaint = await lab.call('check', toManifest(program)).then(() => null, sentence);
        return { state: 'done', messages, complaint };
      };
      work().then(
        (result) => isCurrent() && setCompiled(result),
        (error: unknown) => isCurrent() && !(error instanceof LabEnded) && setCompiled({ state: 'done', messages: [], complaint: sentence(error) }),
      );
    }, typingMs);
    return () => clearTimeout(timer);
  }, [lab, program, ready]);
  return compiled;
}

export type Runner = { readonly running: Running; readonly ran: Ran | null; readonly run: (program: Program) => void; readonly stop: () => void };

export function useRunner(lab: Lab): Runner {
  const [running, setRunning] = useState<Running>({ state: 'idle' });
  const [ran, setRan] = useState<Ran | null>(null);
  const run = useCallback(
    (program: Program) => {
      setRunning({ state: 'running' });
      lab.run(toManifest(program)).then(
        (result) => {
          lab.remember({ name: program.name, bytes: bytesMoved(program), operations: operationsOf(program), seconds: result.gpuSeconds, byTimestamps: result.byTimestamps });
          setRan({ run: result, program });
          setRunning({ state: 'idle' });
        },
        (error: unknown) => setRunning(error instanceof LabEnded ? { state: 'idle' } : { state: 'failed', message: sentence(error) }),
      );
    },
    [lab],
  );
  const stop = useCallback(() => lab.stop(), [lab]);
  return { running, ran, run, stop };
}

export type Trial = { readonly overrides: Readonly<Record<string, number>>; readonly seconds: number | null; readonly byTimestamps: boolean; readonly note: string };
export type Tuning = { readonly state: 'idle' | 'measuring' | 'done'; readonly trials: readonly Trial[] };

const rounds = 3;

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Runs every combination a few times and keeps its best time, as a worker does. A combination that changes exact results is marked. */
export function useTuner(lab: Lab): { tuning: Tuning; tune: (program: Program) => void; forget: () => void } {
  const [tuning, setTuning] = useState<Tuning>({ state: 'idle', trials: [] });
  const tune = useCallback(
    (program: Program) => {
      const measure = async () => {
        const trials: Trial[] = [];
        let expected: readonly Uint8Array[] | null = null;
        setTuning({ state: 'measuring', trials });
        for (const overrides of combinations(program)) {
          let seconds: number | null = null;
          let byTimestamps = true;
          let note = '';
          try {
            for (let round = 0; round < rounds; round += 1) {
              const result = await lab.run(toManifest(program, overrides));
              seconds = Math.min(seconds ?? Infinity, result.gpuSeconds);
              byTimestamps &&= result.byTimestamps;
              const bytes = result.outputs.map((output) => output.bytes);
              expected ??= bytes;
              if (program.verify.exact && !bytes.every((one, i) => sameBytes(one, expected?.[i] ?? one))) note = 'gives other bytes than the first choice';
            }
          } catch (error) {
            if (error instanceof LabEnded) break;
            note = sentence(error);
          }
          trials.push({ overrides, seconds, byTimestamps, note });
          setTuning({ state: 'measuring', trials: [...trials] });
        }
        setTuning({ state: 'done', trials });
      };
      void measure();
    },
    [lab],
  );
  const forget = useCallback(() => setTuning({ state: 'idle', trials: [] }), []);
  return { tuning, tune, forget };
}
