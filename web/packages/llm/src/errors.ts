// What goes wrong, as one sentence and a code that says what a caller can do about it.

export type ErrorCode =
  /** The input is wrong: a broken file, a bad option, a prompt that the model cannot read. */
  | 'invalid_argument'
  /** The file or the route does not exist. */
  | 'not_found'
  /** The server or the model's chat template refuses. */
  | 'permission_denied'
  /** A bound was reached: the context, the room in the browser's storage. */
  | 'resource_exhausted'
  | 'out_of_memory'
  /** The caller asked to stop. */
  | 'cancelled'
  /** Try again later or elsewhere: no network, no GPU. */
  | 'unavailable'
  /** The GPU went away; load() the model again. */
  | 'device_lost'
  /** Bytes are not what was written or promised. */
  | 'data_loss'
  /** This build, this browser or this device cannot do it. */
  | 'unsupported'
  /** The engine failed, and no input is the reason. */
  | 'internal';

/** Every error of this package is one. */
export class WeftError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The caller's signal, or dispose(), ended it. */
export class CancelledError extends WeftError {
  constructor(message: string, options?: ErrorOptions) {
    super('cancelled', message, options);
  }
}

/** The GPU device is gone, and with it this model; load() makes a new one. */
export class DeviceLostError extends WeftError {
  constructor(message: string) {
    super('device_lost', message);
  }
}

/** There is no room for the model: in memory, on the GPU, or where the browser keeps files. */
export class NoRoomError extends WeftError {
  constructor(code: 'out_of_memory' | 'resource_exhausted', message: string) {
    super(code, message);
  }
}

/** The file is missing, broken or no model that this engine runs, or an option asks for what cannot be. */
export class LoadError extends WeftError {}

/** The Worker ended by itself; nothing of this model works any more. */
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

/** The error for a code that came over a border; `loading` is whether it is about the file. */
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
