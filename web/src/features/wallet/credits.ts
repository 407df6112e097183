// Formats and reads credits and spans of time for the wallet.
import { formatSeconds, plural } from '../../design/format';

/** Formats an amount with all digits, because an amount that is signed must not be rounded. */
export function creditsText(micro: bigint): string {
  const digits = micro.toString().padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)} credits`;
}
/** Formats a span; two days and more are written in days. */
export const spanText = (seconds: number): string => (seconds >= 172_800 ? plural(Math.round(seconds / 86_400), 'day') : formatSeconds(seconds));
/** Returns null if the text is not an amount of credits with up to six decimals. */
export function parseCredits(text: string): bigint | null {
  const found = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (found === null) return null;
  const micro = BigInt(found[1] ?? '0') * 1_000_000n + BigInt((found[2] ?? '').padEnd(6, '0'));
  return micro > 0n ? micro : null;
}
