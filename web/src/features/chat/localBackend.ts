// A model in this tab, through the package weft-engine.
import { CrashedError, DeviceLostError, load, removeStoredModel, storedModels, type Model, type ModelInfo, type Summary } from 'weft-engine';
import { formatBytes } from '../../design/format';
import { offerGpuSource, type GpuCounters, type Roofs, type Run } from '../../engine/gpuCounters';
import { recallDevice } from '../../engine/knownDevice';
import { Lab } from '../../engine/lab';
import { BackendGone, type AnswerEnd, type AnswerOptions, type ChatBackend, type ChatMessage, type OpenBackend, type Shelf } from './backend';

export const localShelf: Shelf = { list: storedModels, remove: removeStoredModel };

const engine = new URL('/engine/weft_llm.mjs', window.location.href);

export const openLocal: OpenBackend = async (source, { onProgress, signal }) => {
  const model = await load(source, { engine, onProgress, signal });
  if (model.info.chatTemplate !== null) return new LocalBackend(model, typeof source === 'string' ? nameOf(source) : source.name);
  await model.dispose();
  throw new Error('This model has no chat template, and its tokens do not belong to a known one; it continues texts but cannot chat.');
};

export function nameOf(address: string): string {
  return decodeURIComponent(new URL(address, window.location.href).pathname.split('/').at(-1) ?? '') || address;
}

const runsMax = 24;

/** Returns the roofs of the machine: those that contributing has measured, or new measurements on a separate device. */
async function measuredRoofs(): Promise<Roofs> {
  const lab = new Lab();
  try {
    const { copyBytesPerSecond, f32OperationsPerSecond } = await lab.rates();
    return { bytesPerSecond: copyBytesPerSecond, operationsPerSecond: f32OperationsPerSecond, what: 'f32 multiply-adds' };
  } finally {
    lab.stop();
  }
}

function knownRoofs(): Roofs | null {
  const rates = recallDevice('gpu', Date.now());
  return rates === null ? null : { bytesPerSecond: rates.copyGbPerS * 1e9, operationsPerSecond: rates.f32GflopPerS * 1e9, what: 'f32 multiply-adds' };
}

/**
 * Describes an answer as two runs: reading its prompt in one pass, and drawing its tokens one after the other. Each pass reads the weights
 * once, and each token takes a multiplication and an addition for each weight; attention is not counted.
 */
export function runsOf(info: Pick<ModelInfo, 'parameters' | 'weightBytes'>, summary: Pick<Summary, 'promptTokens' | 'reusedTokens' | 'tokens' | 'prefillMs' | 'decodeMs'>): readonly Run[] {
  const read = summary.promptTokens - summary.reusedTokens;
  const drawn = summary.tokens - 1;
  const run = (name: string, passes: number, tokens: number, ms: number): Run => ({
    name,
    bytes: passes * info.weightBytes,
    operations: 2 * tokens * info.parameters,
    seconds: ms / 1000,
    byTimestamps: false,
  });
  return [
    ...(drawn > 0 && summary.decodeMs > 0 ? [run(`${drawn} tokens drawn`, drawn, drawn, summary.decodeMs)] : []),
    ...(read > 0 && summary.prefillMs > 0 ? [run(`${read} tokens of prompt`, 1, read, summary.prefillMs)] : []),
  ];
}

class LocalBackend implements ChatBackend {
  readonly name: string;
  readonly place: string;
  readonly #model: Model;
  readonly #withdraw: () => void;
  #runs: readonly Run[] = [];

  constructor(model: Model, file: string) {
    const { info } = model;
    this.#model = model;
    this.name = info.name || file;
    const where = info.device.kind === 'gpu' ? `on ${info.device.name}` : `on the processor${info.device.reason ? ` (${info.device.reason})` : ''}`;
    this.#withdraw = offerGpuSource({
      name: 'Chat',
      counters: async (watch) => (await model.gpuCounters(watch)) as GpuCounters,
      runs: () => this.#runs,
      ...(info.device.kind === 'gpu' ? { roofsAreKnown: knownRoofs() !== null, roofs: async () => knownRoofs() ?? measuredRoofs() } : {}),
    });
    this.place = `In this tab, ${where}, ${formatBytes(info.weightBytes)}, ${info.context.toLocaleString('en')} tokens of context`;
  }

  async *answer(messages: readonly ChatMessage[], { temperature, maxTokens, signal }: AnswerOptions): AsyncGenerator<string, AnswerEnd, void> {
    const sampling = temperature > 0 ? { temperature, topP: 0.95, seed: Math.floor(Math.random() * 2 ** 32) } : {};
    try {
      // Only the network supports tools. If a conversation with tool calls continues on this device, the calls are left out.
      const said = messages.flatMap((one) => (one.role === 'tool' || one.content === '' ? [] : [{ role: one.role, content: one.content }]));
      const answer = this.#model.generate(said, { ...sampling, maxTokens, signal });
      for await (const { text } of answer) yield text;
      const summary = await answer.summary;
      this.#runs = [...runsOf(this.#model.info, summary), ...this.#runs].slice(0, runsMax);
      const { stop, tokens, prefillMs, decodeMs } = summary;
      return { stop, tokens, firstMs: prefillMs, restMs: decodeMs };
    } catch (error) {
      if (error instanceof DeviceLostError || error instanceof CrashedError) throw new BackendGone(error.message, { cause: error });
      throw error;
    }
  }

  close(): Promise<void> {
    this.#withdraw();
    return this.#model.dispose();
  }
}
