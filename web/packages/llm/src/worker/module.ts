// The interface of the WebAssembly module, which src/bindings/llm_web/README.md describes.
import type { EngineGenerateOptions, EngineInput, EngineLoadOptions } from '../messages.js';
import type { JsonObject, ModelInfo, Piece, Summary } from '../types.js';

/** A model's file that is read synchronously: read() fills `into` with the bytes from `offset` on, or throws. */
export type ByteSource = {
  readonly bytes: number;
  read(offset: number, into: Uint8Array): void;
};

export type EngineModule = {
  load(options: EngineLoadOptions): Promise<Omit<ModelInfo, 'origin'>>;
  generate(input: EngineInput, options: EngineGenerateOptions, onPiece: (piece: Piece) => void): { readonly call: number; readonly answer: Promise<Summary> };
  cancel(call: number): void;
  tokenize(text: string, options: { readonly addSpecial: boolean; readonly parseSpecial: boolean }): Promise<number[]>;
  detokenize(tokens: readonly number[], options: { readonly showSpecial: boolean }): Promise<string>;
  render(input: JsonObject): Promise<string>;
  release(): void;
  /** The counters of the module's devices, from src/engine/gpu/web/watch.js. */
  readonly gpuWatch: { watch(on: boolean): void; read(): JsonObject };
};

export type CreateEngine = (options: {
  readonly source: ByteSource;
  readonly onAbort: (what: unknown) => void;
  readonly printErr: (line: string) => void;
}) => Promise<EngineModule>;
