// Tests that the form's program becomes the manifest that every worker reads, and that mistakes are reported before that.
import { describe, expect, it } from 'vitest';
import { examples } from './examples';
import { bytesMoved, combinations, operationsOf, problemsOf, toManifest, type Binding, type Program } from './program';
import { readProgram } from './share';

const vectorAdd = examples.find(({ title }) => title === 'Vector add')?.program as Program;
const matmul = examples.find(({ title }) => title === 'Matrix product')?.program as Program;
const manifestOf = (program: Program, overrides?: Record<string, number>) => JSON.parse(toManifest(program, overrides)) as Record<string, unknown>;
const changed = (index: number, change: Partial<Binding>): Program => ({ ...vectorAdd, bindings: vectorAdd.bindings.map((one, i) => (i === index ? { ...one, ...change } : one)) });

describe('toManifest', () => {
  it('gives inputs their bytes, outputs none, and the cut', () => {
    const manifest = manifestOf(changed(0, { shape: [2], fill: { kind: 'numbers', text: '1 2' } }));

    expect(manifest).toMatchObject({ weft: 1, kind: 'wgsl', name: 'vector_add', entry: 'main', dispatch: [1024, 1, 1], split: { axis: 'x', tasks: 4 } });
    expect((manifest['bindings'] as unknown[])[0]).toEqual({ binding: 0, role: 'input', type: 'f32', shape: [2], base64: 'AACAPwAAAEA=' });
    expect((manifest['bindings'] as unknown[])[2]).toEqual({ binding: 2, role: 'output', type: 'f32', shape: [65536], split_dim: 0 });
  });

  it('names no split where there is one task and nothing cut', () => {
    const manifest = manifestOf({ ...changed(2, { join: 'none' }), split: { tasks: 1, axis: 'x' } });

    expect(manifest).not.toHaveProperty('split');
    expect((manifest['bindings'] as unknown[])[2]).not.toHaveProperty('split_dim');
  });

  it('leaves to the worker what is open, and nothing once it is chosen', () => {
    expect(manifestOf(matmul)).toMatchObject({ tune: { lanes: [16, 32, 64, 128, 256] } });
    const chosen = manifestOf(matmul, { lanes: 32 });
    expect(chosen).toMatchObject({ constants: { lanes: 32 } });
    expect(chosen).not.toHaveProperty('tune');
  });

  it('writes several steps in order', () => {
    const steps = [
      { entry: 'first', dispatch: [1, 1, 1] },
      { entry: 'second', dispatch: [2, 1, 1] },
    ] as const;
    const manifest = manifestOf({ ...vectorAdd, steps });

    expect(manifest['steps']).toEqual(steps);
    expect(manifest).not.toHaveProperty('entry');
  });
});

describe('problemsOf', () => {
  it('finds none in the examples', () => {
    for (const { program } of examples) expect(problemsOf(program)).toEqual([]);
  });

  it.each([
    ['name', { ...vectorAdd, name: 'a b' }],
    ['wgsl', { ...vectorAdd, wgsl: ' ' }],
    ['steps.0.entry', { ...vectorAdd, steps: [{ entry: '1st', dispatch: [1, 1, 1] as const }] }],
    ['steps.0.dispatch', { ...vectorAdd, steps: [{ entry: 'main', dispatch: [0, 1, 1] as const }] }],
    ['bindings.1', changed(1, { binding: 0 })],
    ['bindings.0', changed(0, { shape: [] })],
    ['bindings.0', changed(0, { shape: [2 ** 27] })],
    ['bindings.0', changed(0, { fill: { kind: 'numbers', text: '1' } })],
    ['bindings', { ...vectorAdd, bindings: vectorAdd.bindings.slice(0, 2) }],
    ['split', { ...vectorAdd, split: { tasks: 0, axis: 'x' as const } }],
  ])('says what is wrong with %s', (where, program) => expect(problemsOf(program).map((problem) => problem.where)).toEqual([where]));
});

it('counts the bytes that a run cannot avoid: inputs once, outputs once, both for what is both', () => {
  expect(bytesMoved(vectorAdd)).toBe(3 * 4 * 65536);
  expect(bytesMoved(changed(2, { role: 'inout' }))).toBe(4 * 4 * 65536);
});

it('measures every combination, at most sixteen', () => {
  expect(combinations({ ...matmul, tune: [{ name: 'a', values: [1, 2] }, { name: 'b', values: [3, 4] }] })).toEqual([
    { a: 1, b: 3 },
    { a: 1, b: 4 },
    { a: 2, b: 3 },
    { a: 2, b: 4 },
  ]);
  expect(combinations({ ...matmul, tune: [{ name: 'a', values: Array.from({ length: 40 }, (_, i) => i) }] })).toHaveLength(16);
});

describe('a built-in kernel', () => {
  const example = examples.find((one) => one.program.kernel !== undefined);
  if (example?.program.kernel === undefined) throw new Error('There is no example of a kernel.');
  const { program } = example;
  const { kernel } = example.program;

  it('becomes a manifest of its kind, with int8 operands in the size of its sides', () => {
    const manifest = JSON.parse(toManifest({ ...program, kernel: { ...kernel, m: 2, n: 3, k: 4, b: { kind: 'count', first: -2, step: 1 } } })) as Record<string, { base64: string }>;

    expect(manifest).toMatchObject({ kind: 'kernel', kernel: 'matmul_i8', m: 2, n: 3, k: 4, split: { tasks: 4 } });
    expect(atob(manifest['a']?.base64 ?? '')).toHaveLength(8);
    expect([...atob(manifest['b']?.base64 ?? '')].map((one) => (one.charCodeAt(0) << 24) >> 24)).toEqual([-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('knows its operations and bytes', () => {
    expect(operationsOf(program)).toBe(2 * 256 ** 3);
    expect(bytesMoved(program)).toBe(256 * 256 * 6);
  });

  it.each([
    [{ ...kernel, m: 0 }, 'A side is a whole number'],
    [{ ...kernel, m: 65536, k: 131_071 }, '256 MiB'],
    [{ ...kernel, m: 3 }, 'as many tasks as rows'],
    [{ ...kernel, a: { kind: 'random', seed: 1, low: 3, high: 1 } as const }, 'low before high'],
  ])('says what is wrong with %j', (wrong, words) => {
    expect(problemsOf({ ...program, kernel: wrong }).map(({ text }) => text).join()).toContain(words);
  });

  it('travels in a link, and nothing else by its name does', async () => {
    expect(readProgram(JSON.parse(JSON.stringify(program)))).toEqual(program);
    expect(() => readProgram({ ...program, kernel: { ...kernel, name: 'rm' } })).toThrow();
  });
});
