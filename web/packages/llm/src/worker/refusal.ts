// An error with the code that the page gets.
import type { ErrorCode } from '../errors.js';

export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
