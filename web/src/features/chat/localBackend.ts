// A model in this tab, through the package weft-engine.
import { CrashedError, DeviceLostError, load, removeStoredModel, storedModels, type Model } from 'weft-engine';
import { formatBytes } from '../../design/format';
import { offerGpuSource, type GpuCounters } from '../../engine/gpuCounters';
import { BackendGone, type AnswerEnd, type AnswerOptions, type ChatBackend, type ChatMessage, type OpenBackend, type Shelf } from './backend';

export const localShelf: Shelf = { list: storedModels, remove: removeStoredModel };

const engine = new URL('/engine/weft_llm.mjs', window.location.href);

export const openLocal: OpenBackend = async (source, { onProgress, signal }) => {
  const model = await load(source, { engine, onProgress, signal });
  if (model.info.chatTemplate !== null) return new LocalBackend(model, typeof source === 'string' ? nameOf(source) : source.name);
  await model.dispose();
  throw new Error('This model has no chat template, and its tokens point to none that is known; it continues texts but cannot chat.');
};

export function nameOf(address: string): string {
  return decodeURIComponent(new URL(address, window.location.href).pathname.split('/').at(-1) ?? '') || address;
}

class LocalBackend implements ChatBackend {
  readonly name: string;
  readonly place: string;
  readonly #model: Model;
  readonly #withdraw: () => void;

  constructor(model: Model, file: string) {
    const { info } = model;
    this.#model = model;
    this.name = info.name || file;
    const where = info.device.kind === 'gpu' ? `on ${info.device.name}` : `on the processor${info.device.reason ? ` (${info.device.reason})` : ''}`;
    this.#withdraw = offerGpuSource({ name: 'Chat', counters: async (watch) => (await model.gpuCounters(watch)) as GpuCounters });
    this.place = `In this tab, ${where}, ${formatBytes(info.weightBytes)}, ${info.context.toLocaleString('en')} tokens of context`;
  }

  async *answer(messages: readonly ChatMessage[], { temperature, maxTokens, signal }: AnswerOptions): AsyncGenerator<string, AnswerEnd, void> {
    const sampling = temperature > 0 ? { temperature, topP: 0.95, seed: Math.floor(Math.random() * 2 ** 32) } : {};
    try {
      const answer = this.#model.generate(messages, { ...sampling, maxTokens, signal });
      for await (const { text } of answer) yield text;
      const { stop, tokens, prefillMs, decodeMs } = await answer.summary;
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
