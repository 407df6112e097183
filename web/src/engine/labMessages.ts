// The messages between the playground and its Worker: a call, and its answer or refusal with the same number.
import type { GpuCounters } from './gpuCounters';

export type CompileMessage = { readonly kind: 'error' | 'warning' | 'info'; readonly line: number; readonly column: number; readonly text: string };
export type LabDevice = {
  readonly device: {
    readonly vendor: string;
    readonly architecture: string;
    readonly description: string;
    readonly backend: string;
    readonly features: readonly string[];
    readonly limits: Readonly<Record<string, number>>;
  };
  readonly timestamps: boolean;
};
export type LabOutput = { readonly name: string; readonly type: string; readonly shape: readonly number[]; readonly bytes: Uint8Array };
export type LabRun = {
  readonly name: string;
  readonly outputs: readonly LabOutput[];
  readonly tasks: number;
  readonly dispatches: number;
  readonly gpuSeconds: number;
  readonly wallSeconds: number;
  readonly byTimestamps: boolean;
  readonly root: string;
};
export type LabRates = {
  readonly copyBytesPerSecond: number;
  readonly f32OperationsPerSecond: number;
  /** 0 if the device has no such instruction. */
  readonly int8OperationsPerSecond: number;
  readonly byTimestamps: boolean;
};
export type SignedRequest = { readonly client: string; readonly nonce: string; readonly time: string; readonly signature: string };

/** The methods with their arguments and answers. */
export type LabCalls = {
  open: { argument: null; answer: LabDevice };
  measure: { argument: null; answer: LabRates };
  compile: { argument: string; answer: { readonly messages: readonly CompileMessage[] } };
  check: { argument: string; answer: object };
  run: { argument: string; answer: LabRun };
  /** The argument is "COORDINATOR METHOD TARGET", a newline and the body. */
  sign: { argument: string; answer: SignedRequest };
  counters: { argument: boolean; answer: GpuCounters | null };
};
export type LabMethod = keyof LabCalls;
export type ToLab = { readonly [Method in LabMethod]: { readonly call: number; readonly method: Method; readonly argument: LabCalls[Method]['argument'] } }[LabMethod];
export type FromLab =
  | { readonly call: number; readonly answer: LabCalls[LabMethod]['answer'] }
  | { readonly call: number; readonly refusal: string; readonly missing: boolean };
