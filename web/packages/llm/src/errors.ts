// The errors of this package: a message of one sentence, and a code that tells a caller how to react.

export type ErrorCode =
  /** The input is wrong: a broken file, a bad option, a prompt that the model cannot read. */
  | 'invalid_argument'
  /** The file or the route does not exist. */
  | 'not_found'
  /** The server refused the request, or the model's chat template refused the input. */
  | 'permission_denied'
  /** A limit was reached, such as the context or the space in the browser's storage. */
  | 'resource_exhausted'
  | 'out_of_memory'
  /** The caller cancelled the operation. */
  | 'cancelled'
  /** The operation may succeed later or on another machine: there is no network or no GPU. */
  | 'unavailable'
  /** The GPU device was lost; load() the model again. */
  | 'device_lost'
  /** Bytes differ from those that were written or promised. */
  | 'data_loss'
  /** This build, browser or device does not support the operation. */
  | 'unsupported'
  /** The engine failed for a reason other than its input. */
  | 'internal';

/** The base class of all errors of this package. */
export class WeftError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The operation was ended by the caller's signal or by dispose(). */
export class CancelledError extends WeftError {
  constructor(message: string, options?: ErrorOptions) {
    super('cancelled', message, options);
  }
}

/** The GPU device was lost, and this model with it; load() makes a new model. */
export class DeviceLostError extends WeftError {
  constructor(message: string) {
    super('device_lost', message);
  }
}

/** There is too little space for the model: in memory, on the GPU, or in the browser's storage. */
export class NoRoomError extends WeftError {
  constructor(code: 'out_of_memory' | 'resource_exhausted', message: string) {
    super(code, message);
  }
}

/** The file is missing, broken or not a model that this engine runs, or an option is not possible. */
export class LoadError extends WeftError {}

/** The Worker ended unexpectedly; this model can no longer be used. */
export class CrashedError extends WeftError {
  constructor(message: string, code: ErrorCode = 'internal') {
    super(code, message);
  }
}

const codes: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_argument', 'not_found', 'permission_denied', 'resource_exhausted', 'out_of_memory', 'cancelled', 'unavailable', 'device_lost', 'data_loss',
  'unsupported', 'internal',
]);
const isCode = (word: string): word is ErrorCode => codes.has(word);

/** Makes the error for a code from the Worker or the engine. `loading`: the error occurred while a file was loaded. */
export function errorFrom(word: string, message: string, loading: boolean): WeftError {
  const code = isCode(word) ? word : 'internal';
  switch (code) {
    case 'cancelled':
      return new CancelledError(message);
    case 'device_lost':
      return new DeviceLostError(message);
    case 'out_of_memory':
      return new NoRoomError(code, message);
    case 'resource_exhausted':
      return loading ? new NoRoomError(code, message) : new WeftError(code, message);
    case 'invalid_argument':
    case 'data_loss':
    case 'unsupported':
    case 'not_found':
      return loading ? new LoadError(code, message) : new WeftError(code, message);
    default:
      return new WeftError(code, message);
  }
}
