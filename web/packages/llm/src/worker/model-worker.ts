// The dedicated Worker of a model: it downloads the file, loads the WebAssembly, and answers the page's calls.
import type { FromWorker, Question, ToWorker, WorkerSource } from '../messages.js';
import type { Json, Progress } from '../types.js';
import { fetchModel } from './download.js';
import type { ByteSource, CreateEngine, EngineModule } from './module.js';
import { Refusal, sentence } from './refusal.js';
import { counted, fromBlob, fromBytes } from './sources.js';

declare const self: DedicatedWorkerGlobalScope;

const say = (message: FromWorker): void => self.postMessage(message);

/** Returns a function that reports progress to the page at most ten times a second, and at the end. */
function paced(): (progress: Progress) => void {
  let next = 0;
  let phase = '';
  return (progress) => {
    const now = performance.now();
    if (now < next && progress.phase === phase && progress.loaded < progress.total) return;
    next = now + 100;
    phase = progress.phase;
    say({ type: 'progress', progress });
  };
}

const crash = (error: unknown): void => {
  const message = sentence(error);
  const memory = /OOM|out of memory|memory allocation|Cannot enlarge memory/i.test(message);
  if (memory) say({ type: 'crashed', code: 'out_of_memory', message: 'The engine ran out of memory.' });
  else say({ type: 'crashed', code: 'internal', message: `The engine broke: ${message}` });
};

const ending = new AbortController();
let engine: EngineModule | null = null;
let closeFile = (): void => {};
/** The engine's numbers of answers, by the numbers of the page's calls. */
const running = new Map<number, number>();

async function open(source: WorkerSource, tell: (progress: Progress) => void): Promise<{ source: ByteSource; origin: 'network' | 'cache' | 'file' | 'memory' }> {
  switch (source.kind) {
    case 'blob':
      return { source: fromBlob(source.blob), origin: 'file' };
    case 'bytes':
      return { source: fromBytes([source.bytes]), origin: 'memory' };
    case 'url': {
      const fetched = await fetchModel({ ...source, tell, signal: ending.signal });
      closeFile = fetched.close;
      return fetched;
    }
  }
}

async function createEngine(address: string, source: ByteSource): Promise<EngineModule> {
  // A HEAD request is sent first, because a failed import() does not tell whether the file is missing or broken.
  const there = await fetch(address, { method: 'HEAD' }).catch((error: unknown) => {
    throw new Refusal('unavailable', `The engine at ${address} cannot be reached: ${sentence(error)}.`);
  });
  if (!there.ok || !(there.headers.get('content-type') ?? '').includes('javascript'))
    throw new Refusal('not_found', `There is no engine at ${address}: it answered ${there.status}.`);
  const { default: create } = (await import(/* @vite-ignore */ address)) as { default: CreateEngine };
  return create({ source, onAbort: crash, printErr: (line) => console.error(line) });
}

async function load(message: Extract<ToWorker, { type: 'load' }>): Promise<void> {
  const tell = paced();
  const { source, origin } = await open(message.source, tell);
  ending.signal.throwIfAborted();
  const total = source.bytes;
  const module = await createEngine(message.engine, counted(source, total, (loaded) => tell({ phase: 'weights', loaded, total })));
  ending.signal.throwIfAborted();
  const info = await module.load(message.options);
  engine = module;
  tell({ phase: 'weights', loaded: total, total });
  say({ type: 'loaded', info: { ...info, origin } });
}

function ask(module: EngineModule, question: Question): Promise<Json> {
  switch (question.method) {
    case 'tokenize':
      return module.tokenize(question.text, question);
    case 'detokenize':
      return module.detokenize(question.tokens, question);
    case 'render':
      return module.render(question.input);
    case 'gpu': {
      const { gpuWatch } = module;
      if (gpuWatch.read()['watching'] !== question.watch) gpuWatch.watch(question.watch);
      return Promise.resolve(gpuWatch.read());
    }
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'internal');

function answerWith(call: number, work: Promise<Json>): void {
  work.then(
    (value) => say({ type: 'answer', call, value }),
    (error: unknown) => say({ type: 'error', call, code: codeOf(error), message: sentence(error) }),
  );
}

let loading: Promise<void> = Promise.resolve();

async function dispose(): Promise<void> {
  ending.abort(new Refusal('cancelled', 'Loading the model was cancelled.'));
  await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, 1000))]);
  engine?.release();
  closeFile();
  say({ type: 'disposed' });
}

function handle(message: ToWorker): void {
  if (message.type === 'load') {
    loading = load(message).catch((error: unknown) => {
      // The messages of WebAssembly's own errors are not meant for users.
      if (error instanceof WebAssembly.RuntimeError || error instanceof WebAssembly.CompileError) crash(error);
      else say({ type: 'refused', code: codeOf(error), message: sentence(error) });
    });
    return;
  }
  if (message.type === 'dispose') {
    void dispose();
    return;
  }
  if (engine === null) return;
  switch (message.type) {
    case 'generate': {
      const { call } = message;
      const begun = engine.generate(message.input, message.options, (piece) => say({ type: 'piece', call, piece }));
      running.set(call, begun.call);
      answerWith(call, begun.answer.finally(() => running.delete(call)));
      return;
    }
    case 'cancel': {
      const number = running.get(message.call);
      if (number !== undefined) engine.cancel(number);
      return;
    }
    case 'ask':
      answerWith(message.call, ask(engine, message.question));
  }
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  try {
    handle(event.data);
  } catch (error) {
    crash(error);
  }
};
self.onunhandledrejection = (event) => crash(event.reason);
