// Links with a program in their fragment, which browsers do not send to a server: #p1=BASE64URL(deflate(JSON)). A link is not trusted: its
// size is bounded before and during decompression, and every field is checked before it is used.
import { bounds, axes, joins, roles, views, type Binding, type Kernel, type Program, type Step } from './program';
import { elementTypes, type Fill } from './data';

const prefix = 'p1=';
export const linkCharactersMax = 24_000;
const inflatedBytesMax = 2 ** 20;
const ownBudget = 100;
const ownReplicas = 2;

/** The error if a link contains no valid program, with a message of one sentence. */
export class LinkError extends Error {}

async function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(transform as unknown as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > bytesMax) {
      void reader.cancel().catch(() => {});
      throw new LinkError('The link unpacks to more than a program may have.');
    }
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Returns the fragment without the #. Throws a LinkError if the program is too large for a link. */
export async function toFragment(program: Program): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(program)), new CompressionStream('deflate-raw'), inflatedBytesMax);
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join('')).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  if (text.length > linkCharactersMax) {
    throw new LinkError('The program is too large for a link, most often because of a file in its data. Save its manifest instead.');
  }
  return prefix + text;
}

/** Returns null if the fragment is not a link of the playground. Throws a LinkError if it is one but contains no valid program. */
export async function fromFragment(fragment: string): Promise<Program | null> {
  const text = fragment.replace(/^#/, '');
  if (!text.startsWith(prefix)) return null;
  const body = text.slice(prefix.length);
  if (body.length > linkCharactersMax) throw new LinkError('The link is longer than one with a program can be.');
  if (!/^[A-Za-z0-9_-]+$/.test(body)) throw new LinkError('The link is damaged.');
  let value: unknown;
  try {
    const packed = Uint8Array.from(atob(body.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream('deflate-raw'), inflatedBytesMax);
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError('The link is damaged.');
  }
  return readProgram(value);
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new LinkError(`The link's ${what} does not have the expected form.`);
  return value as Fields;
}
function list<Item>(value: unknown, what: string, most: number, read: (item: unknown) => Item): readonly Item[] {
  if (!Array.isArray(value) || value.length > most) throw new LinkError(`The link's ${what} is not a list of at most ${most}.`);
  return value.map(read);
}
function text(value: unknown, what: string, most: number): string {
  if (typeof value !== 'string' || value.length > most) throw new LinkError(`The link's ${what} is not a text of at most ${most} characters.`);
  return value;
}
function number(value: unknown, what: string, low = -Number.MAX_VALUE, high = Number.MAX_VALUE): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < low || value > high) throw new LinkError(`The link's ${what} is not a number in its range.`);
  return value;
}
function whole(value: unknown, what: string, low: number, high: number): number {
  const read = number(value, what, low, high);
  if (!Number.isInteger(read)) throw new LinkError(`The link's ${what} is not a whole number.`);
  return read;
}
function one<Word extends string>(value: unknown, what: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new LinkError(`The link's ${what} is not one of ${words.join(', ')}.`);
  return found;
}

function readFill(value: unknown): Fill {
  const fill = fields(value, 'data');
  switch (one(fill['kind'], 'data', ['numbers', 'count', 'random', 'zeros', 'bytes'] as const)) {
    case 'numbers':
      return { kind: 'numbers', text: text(fill['text'], 'numbers', 100_000) };
    case 'count':
      return { kind: 'count', first: number(fill['first'], 'first number'), step: number(fill['step'], 'step') };
    case 'random':
      return { kind: 'random', seed: whole(fill['seed'], 'seed', 0, 2 ** 32 - 1), low: number(fill['low'], 'range'), high: number(fill['high'], 'range') };
    case 'zeros':
      return { kind: 'zeros' };
    case 'bytes': {
      const base64 = text(fill['base64'], 'data', inflatedBytesMax);
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0) throw new LinkError("The link's data is not base64.");
      return { kind: 'bytes', base64, name: text(fill['name'], "data's name", 200) };
    }
  }
}

function readBinding(value: unknown): Binding {
  const binding = fields(value, 'binding');
  return {
    binding: whole(binding['binding'], 'binding number', 0, 999),
    role: one(binding['role'], 'role', roles),
    type: one(binding['type'], 'type', elementTypes),
    shape: list(binding['shape'], 'shape', bounds.dimensions, (side) => whole(side, 'shape', 1, 2 ** 28)),
    fill: readFill(binding['fill']),
    join: one(binding['join'], 'join', joins),
  };
}

function readStep(value: unknown): Step {
  const step = fields(value, 'step');
  const [x = 1, y = 1, z = 1] = list(step['dispatch'], 'dispatch', 3, (count) => whole(count, 'dispatch', 1, 65535));
  return { entry: text(step['entry'], 'entry point', 200), dispatch: [x, y, z] };
}

function readKernel(value: unknown): Kernel {
  const kernel = fields(value, 'kernel');
  const side = (name: string, most: number) => whole(kernel[name], 'side', 1, most);
  return { name: one(kernel['name'], 'kernel', ['matmul_i8']), m: side('m', 65536), n: side('n', 65536), k: side('k', 131_071), a: readFill(kernel['a']), b: readFill(kernel['b']) };
}

/** Checks the value from a link or a stored draft. Only the fields that are named here are kept. */
export function readProgram(value: unknown): Program {
  const program = fields(value, 'program');
  const split = fields(program['split'], 'split');
  const verify = fields(program['verify'], 'verify');
  const view = fields(program['view'], 'view');
  const steps = list(program['steps'], 'steps', bounds.steps, readStep);
  if (steps.length === 0) throw new LinkError("The link's program has no step.");
  return {
    name: text(program['name'], 'name', 64),
    ...(program['kernel'] === undefined ? {} : { kernel: readKernel(program['kernel']) }),
    wgsl: text(program['wgsl'], 'shader', bounds.wgslCharacters),
    steps,
    bindings: list(program['bindings'], 'bindings', bounds.bindings, readBinding),
    constants: list(program['constants'], 'constants', bounds.constants, (item) => {
      const constant = fields(item, 'constant');
      return { name: text(constant['name'], 'constant', 200), value: number(constant['value'], 'constant') };
    }),
    tune: list(program['tune'], 'tuner', 8, (item) => {
      const choice = fields(item, 'choice');
      return { name: text(choice['name'], 'override', 200), values: list(choice['values'], 'choices', bounds.combinations, (one) => number(one, 'choice')) };
    }),
    split: { tasks: whole(split['tasks'], 'number of tasks', 1, 65536), axis: one(split['axis'], 'axis', axes) },
    verify: {
      exact: verify['exact'] === true,
      absolute: number(verify['absolute'], 'tolerance', 0),
      relative: number(verify['relative'], 'tolerance', 0),
      replicas: whole(verify['replicas'], 'number of replicas', 1, 7),
    },
    budget: number(program['budget'], 'budget', 0, 1e9),
    operations: program['operations'] === null ? null : number(program['operations'], 'operations', 0),
    view: { output: whole(view['output'], 'view', 0, bounds.bindings), as: one(view['as'], 'view', views) },
  };
}

/** Replaces budget and replicas of a program by those of the first example, because the visitor decides what a job costs, not a link. */
export function withOwnTerms(program: Program): Program {
  return { ...program, budget: ownBudget, verify: { ...program.verify, replicas: ownReplicas } };
}
