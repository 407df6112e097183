// Example programs to start from. Three of them have the shaders of the repository's examples/.
import mandelbrot from '../../../../../examples/mandelbrot.wgsl?raw';
import nbody from '../../../../../examples/nbody.wgsl?raw';
import sha256Search from '../../../../../examples/sha256_search.wgsl?raw';
import type { Program } from '../program';
import matmul from './matmul.wgsl?raw';
import vectorAdd from './vector_add.wgsl?raw';

const exact = { exact: true, absolute: 0, relative: 0, replicas: 1 } as const;
const nothing = { kind: 'zeros' } as const;

export type Example = { readonly title: string; readonly about: string; readonly program: Program };

export const examples: readonly Example[] = [
  {
    title: 'Mandelbrot',
    about: 'a picture in fixed point, the same bytes on every GPU',
    program: {
      name: 'mandelbrot',
      wgsl: mandelbrot,
      steps: [{ entry: 'main', dispatch: [128, 128, 1] }],
      bindings: [
        { binding: 0, role: 'uniform', type: 'i32', shape: [4], fill: { kind: 'numbers', text: '-200936881, -199193009, 29380739, 31124611' }, join: 'none' },
        { binding: 1, role: 'output', type: 'u32', shape: [1024, 1024], fill: nothing, join: 'cut' },
      ],
      constants: [{ name: 'max_iter', value: 500 }],
      tune: [],
      split: { tasks: 16, axis: 'y' },
      verify: exact,
      budget: 100,
      operations: null,
      view: { output: 0, as: 'image' },
    },
  },
  {
    title: 'Matrix product',
    about: 'integers, with a workgroup size left to the tuner',
    program: {
      name: 'matmul',
      wgsl: matmul,
      steps: [{ entry: 'main', dispatch: [256, 1, 1] }],
      bindings: [
        { binding: 0, role: 'input', type: 'i32', shape: [256, 256], fill: { kind: 'count', first: 0, step: 1 }, join: 'none' },
        { binding: 1, role: 'input', type: 'i32', shape: [256, 256], fill: { kind: 'count', first: -9, step: 257 }, join: 'none' },
        { binding: 2, role: 'output', type: 'i32', shape: [256, 256], fill: nothing, join: 'cut' },
      ],
      constants: [],
      tune: [{ name: 'lanes', values: [16, 32, 64, 128, 256] }],
      split: { tasks: 4, axis: 'x' },
      verify: exact,
      budget: 100,
      operations: 2 * 256 ** 3,
      view: { output: 0, as: 'image' },
    },
  },
  {
    title: 'Kernel: matmul_i8',
    about: 'a kernel of the engine in place of a shader: the CPU runs it too',
    program: {
      name: 'product',
      kernel: { name: 'matmul_i8', m: 256, n: 256, k: 256, a: { kind: 'random', seed: 1, low: -127, high: 127 }, b: { kind: 'count', first: -9, step: 37 } },
      wgsl: '',
      steps: [{ entry: 'main', dispatch: [1, 1, 1] }],
      bindings: [],
      constants: [],
      tune: [],
      split: { tasks: 4, axis: 'x' },
      verify: exact,
      budget: 100,
      operations: null,
      view: { output: 0, as: 'image' },
    },
  },
  {
    title: 'N-body',
    about: 'one step of 2,048 bodies, every pair counted, in floats',
    program: {
      name: 'nbody',
      wgsl: nbody,
      steps: [{ entry: 'main', dispatch: [32, 1, 1] }],
      bindings: [
        { binding: 0, role: 'uniform', type: 'f32', shape: [2], fill: { kind: 'numbers', text: '0.01, 0.05' }, join: 'none' },
        { binding: 1, role: 'input', type: 'f32', shape: [2048, 4], fill: { kind: 'random', seed: 7, low: 0, high: 1 }, join: 'none' },
        { binding: 2, role: 'input', type: 'f32', shape: [2048, 4], fill: { kind: 'zeros' }, join: 'none' },
        { binding: 3, role: 'output', type: 'f32', shape: [2048, 4], fill: nothing, join: 'cut' },
        { binding: 4, role: 'output', type: 'f32', shape: [2048, 4], fill: nothing, join: 'cut' },
      ],
      constants: [],
      tune: [],
      split: { tasks: 4, axis: 'x' },
      verify: { exact: false, absolute: 1e-5, relative: 1e-5, replicas: 1 },
      budget: 100,
      // The operations of a pair: 3 for differences, 6 for the distance, 1 root, 4 factors and 6 for the sum.
      operations: 20 * 2048 ** 2,
      view: { output: 0, as: 'plot' },
    },
  },
  {
    title: 'SHA-256 search',
    about: 'the smallest digest among a million texts',
    program: {
      name: 'sha256_search',
      wgsl: sha256Search,
      steps: [{ entry: 'main', dispatch: [256, 1, 1] }],
      bindings: [
        { binding: 0, role: 'uniform', type: 'u32', shape: [2], fill: { kind: 'numbers', text: '2003134068, 0' }, join: 'none' },
        { binding: 1, role: 'output', type: 'u32', shape: [256, 2], fill: nothing, join: 'cut' },
        { binding: 2, role: 'output', type: 'u32', shape: [256, 2], fill: nothing, join: 'cut' },
      ],
      constants: [],
      tune: [],
      split: { tasks: 4, axis: 'x' },
      verify: exact,
      budget: 100,
      operations: null,
      view: { output: 0, as: 'numbers' },
    },
  },
  {
    title: 'Vector add',
    about: 'the shortest program that is one',
    program: {
      name: 'vector_add',
      wgsl: vectorAdd,
      steps: [{ entry: 'main', dispatch: [1024, 1, 1] }],
      bindings: [
        { binding: 0, role: 'input', type: 'f32', shape: [65536], fill: { kind: 'count', first: 0, step: 0.5 }, join: 'none' },
        { binding: 1, role: 'input', type: 'f32', shape: [65536], fill: { kind: 'random', seed: 3, low: 0, high: 8000 }, join: 'none' },
        { binding: 2, role: 'output', type: 'f32', shape: [65536], fill: nothing, join: 'cut' },
      ],
      constants: [],
      tune: [],
      split: { tasks: 4, axis: 'x' },
      verify: exact,
      budget: 100,
      operations: 65536,
      view: { output: 0, as: 'plot' },
    },
  },
];
