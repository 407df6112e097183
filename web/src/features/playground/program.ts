// A program of the playground: a shader, its bindings, its dispatches and its division into tasks. It is one immutable value, which the
// form edits, a link contains, and toManifest() converts to a job's manifest.
import { bytesOf, bytesPerElement, elementsOf, toBase64, type ElementType, type Fill } from './data';

export type Role = 'uniform' | 'input' | 'output' | 'inout';
export type Axis = 'x' | 'y' | 'z';
/**
 * How an output of a job with several tasks is joined: it is cut along its outermost dimension, or whole outputs are concatenated in order.
 */
export type Join = 'cut' | 'concat' | 'none';

export type Binding = {
  readonly binding: number;
  readonly role: Role;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly fill: Fill;
  readonly join: Join;
};
/**
 * A built-in kernel instead of a shader: C[m][n] = A[m][k] B[k][n] with int8 operands and an int32 result. Fills become int8 by their
 * lowest byte.
 */
export type Kernel = { readonly name: 'matmul_i8'; readonly m: number; readonly n: number; readonly k: number; readonly a: Fill; readonly b: Fill };
export type Step = { readonly entry: string; readonly dispatch: readonly [number, number, number] };
export type View = 'image' | 'plot' | 'numbers';

export type Program = {
  readonly name: string;
  /** With a kernel, the shader, the steps and the bindings are ignored. */
  readonly kernel?: Kernel;
  readonly wgsl: string;
  readonly steps: readonly Step[];
  readonly bindings: readonly Binding[];
  readonly constants: readonly { readonly name: string; readonly value: number }[];
  readonly tune: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly split: { readonly tasks: number; readonly axis: Axis };
  readonly verify: { readonly exact: boolean; readonly absolute: number; readonly relative: number; readonly replicas: number };
  readonly budget: number;
  /** The arithmetic operations of one run, if the author knows them. The roofline needs them, and no compiler reports them. */
  readonly operations: number | null;
  readonly view: { readonly output: number; readonly as: View };
};

export const roles: readonly Role[] = ['uniform', 'input', 'output', 'inout'];
export const axes: readonly Axis[] = ['x', 'y', 'z'];
export const views: readonly View[] = ['image', 'plot', 'numbers'];
export const joins: readonly Join[] = ['cut', 'concat', 'none'];

/** The limits that the page checks; all other limits are checked by the engine's manifest code. */
export const bounds = { bindings: 16, steps: 64, constants: 64, dimensions: 4, bytes: 256 * 2 ** 20, wgslCharacters: 2 ** 18, combinations: 64 } as const;

export const isOutput = (binding: Binding): boolean => binding.role === 'output' || binding.role === 'inout';
export const bindingBytes = (binding: Binding): number => elementsOf(binding.shape) * bytesPerElement(binding.type);

export type Problem = { readonly where: string; readonly text: string };

/** Returns the problems that the form finds without the engine: exceeded limits, and data that does not fit its shape. */
export function problemsOf(program: Program): readonly Problem[] {
  const found: Problem[] = [];
  const add = (where: string, text: string) => found.push({ where, text });
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(program.name)) add('name', 'A name has 1 to 64 letters, digits, dots, dashes or underscores.');
  if (!Number.isInteger(program.split.tasks) || program.split.tasks < 1 || program.split.tasks > 65536) add('split', 'A job has 1 to 65,536 tasks.');
  if (program.kernel !== undefined) {
    const { m, n, k } = program.kernel;
    for (const [side, most] of [[m, 65536], [n, 65536], [k, 131_071]] as const) {
      if (!Number.isInteger(side) || side < 1 || side > most) add('kernel', `A side is a whole number from 1 to ${most.toLocaleString('en')}.`);
    }
    if (Math.max(m * k, k * n, 4 * m * n) > bounds.bytes) add('kernel', 'A matrix holds at most 256 MiB.');
    else {
      for (const [fill, shape] of [[program.kernel.a, [m, k]], [program.kernel.b, [k, n]]] as const) {
        try {
          bytesOf(fill, 'i32', shape, { check: true });
        } catch (error) {
          add('kernel', error instanceof Error ? error.message : String(error));
        }
      }
    }
    if (program.split.tasks > m) add('split', 'A product is cut by rows: it has at most as many tasks as rows.');
    return found;
  }
  if (program.wgsl.trim() === '') add('wgsl', 'There is no shader yet.');
  program.steps.forEach((step, i) => {
    if (!/^[\p{XID_Start}_][\p{XID_Continue}]*$/u.test(step.entry)) add(`steps.${i}.entry`, 'Name an entry point of the shader.');
    if (!step.dispatch.every((count) => Number.isInteger(count) && count >= 1 && count <= 65535)) {
      add(`steps.${i}.dispatch`, 'Workgroups are whole numbers from 1 to 65,535.');
    }
  });
  const numbers = new Set<number>();
  program.bindings.forEach((binding, i) => {
    const where = `bindings.${i}`;
    if (!Number.isInteger(binding.binding) || binding.binding < 0 || binding.binding > 999) add(where, 'A binding has a number from 0 to 999.');
    else if (numbers.has(binding.binding)) add(where, `There are two bindings with the number ${binding.binding}.`);
    numbers.add(binding.binding);
    if (binding.shape.length === 0 || !binding.shape.every((n) => Number.isInteger(n) && n >= 1)) add(where, 'A shape is one or more whole numbers, such as 1024 × 1024.');
    else if (bindingBytes(binding) > bounds.bytes) add(where, 'A binding holds at most 256 MiB.');
    else if (binding.role !== 'output') {
      try {
        bytesOf(binding.fill, binding.type, binding.shape, { check: true });
      } catch (error) {
        add(where, error instanceof Error ? error.message : String(error));
      }
    }
  });
  if (!program.bindings.some(isOutput)) add('bindings', 'The job has no output: at least one binding must be one.');
  return found;
}

/** Returns the manifest's text. `overrides` are constants beyond those of the program; with them no constant is left to tune. */
export function toManifest(program: Program, overrides?: Readonly<Record<string, number>>): string {
  if (program.kernel !== undefined) return kernelManifest(program, program.kernel);
  const several = program.split.tasks > 1;
  const constants = Object.fromEntries([...program.constants.map(({ name, value }) => [name, value]), ...Object.entries(overrides ?? {})]) as Record<string, number>;
  const tune = overrides === undefined ? program.tune.filter(({ name, values }) => name !== '' && values.length > 0) : [];
  const [first] = program.steps;
  const manifest = {
    weft: 1,
    kind: 'wgsl',
    name: program.name,
    shader: { inline: program.wgsl },
    ...(program.steps.length === 1 && first !== undefined ? { entry: first.entry, dispatch: first.dispatch } : { steps: program.steps }),
    ...(Object.keys(constants).length > 0 ? { constants } : {}),
    ...(tune.length > 0 ? { tune: Object.fromEntries(tune.map(({ name, values }) => [name, values])) } : {}),
    bindings: program.bindings.map((binding) => ({
      binding: binding.binding,
      role: binding.role,
      type: binding.type,
      shape: binding.shape,
      ...(binding.role === 'output' || (binding.role === 'inout' && binding.fill.kind === 'zeros')
        ? {}
        : { base64: toBase64(bytesOf(binding.fill, binding.type, binding.shape)) }),
      ...(isOutput(binding) && binding.join === 'cut' ? { split_dim: 0 } : {}),
      ...(isOutput(binding) && binding.join === 'concat' ? { combine: 'concat' } : {}),
    })),
    ...(several || program.bindings.some((binding) => isOutput(binding) && binding.join !== 'none') ? { split: { axis: program.split.axis, tasks: program.split.tasks } } : {}),
    verify: {
      compare: program.verify.exact ? 'exact' : { absolute: program.verify.absolute, relative: program.verify.relative },
      replicas: program.verify.replicas,
    },
    deadline_s: 600,
    budget: program.budget,
  };
  return JSON.stringify(manifest);
}

const operand = (fill: Fill, rows: number, columns: number): string =>
  toBase64(Uint8Array.from(new Uint32Array(bytesOf(fill, 'i32', [rows, columns]).slice().buffer), (word) => word & 0xff));

function kernelManifest({ name, split, verify, budget }: Program, kernel: Kernel): string {
  const { m, n, k } = kernel;
  return JSON.stringify({
    weft: 1,
    kind: 'kernel',
    kernel: kernel.name,
    name,
    m,
    n,
    k,
    a: { base64: operand(kernel.a, m, k) },
    b: { base64: operand(kernel.b, k, n) },
    ...(split.tasks > 1 ? { split: { tasks: split.tasks } } : {}),
    verify: { compare: 'exact', replicas: verify.replicas },
    deadline_s: 600,
    budget,
  });
}

/** Returns the author's number of operations or, for a kernel, a multiplication and an addition for each element of a row and a column. */
export const operationsOf = ({ kernel, operations }: Program): number | null => (kernel === undefined ? operations : 2 * kernel.m * kernel.n * kernel.k);

/** Returns the least number of bytes that a run moves: every input read once and every output written once, by the manifest's sizes. */
export function bytesMoved(program: Program): number {
  if (program.kernel !== undefined) return program.kernel.m * program.kernel.k + program.kernel.k * program.kernel.n + 4 * program.kernel.m * program.kernel.n;
  let sum = 0;
  for (const binding of program.bindings) sum += bindingBytes(binding) * (binding.role === 'inout' ? 2 : 1);
  return sum;
}

/** Returns all combinations of the constants that `tune` leaves open; a worker measures at most 16. */
export function combinations(program: Program): readonly Readonly<Record<string, number>>[] {
  let all: Record<string, number>[] = [{}];
  for (const { name, values } of program.tune) {
    if (name === '' || values.length === 0) continue;
    all = all.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  }
  return all.slice(0, 16);
}
