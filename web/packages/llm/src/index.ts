// The interface of the package weft-engine, which runs language models in the browser. README.md
// has examples.
export { load } from './load.js';
export { removeStoredModel, storedModels, type StoredModel } from './stored.js';
export type { Answer } from './answer.js';
export type { Model } from './model.js';
export { CancelledError, CrashedError, DeviceLostError, LoadError, NoRoomError, WeftError, type ErrorCode } from './errors.js';
export type {
  Activations, Candidate, ChatMessage, DeviceChoice, GenerateOptions, Input, Json, JsonObject, KvFormat, LoadOptions, ModelInfo, Piece, Progress,
  Source, StopReason, Summary, TemplateOptions,
} from './types.js';
