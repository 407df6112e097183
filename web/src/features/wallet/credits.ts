// Credits and spans of time as the wallet writes and reads them.
import { formatSeconds, plural } from '../../design/format';

/** With all their digits: what is signed is not rounded. */
export function creditsText(micro: bigint): string {
  const digits = micro.toString().padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)} credits`;
}
/** Two days and more in days. */
export const spanText = (seconds: number): string => (seconds >= 172_800 ? plural(Math.round(seconds / 86_400), 'day') : formatSeconds(seconds));
/** Null where the text is no amount of credits with up to six digits behind the point. */
export function parseCredits(text: string): bigint | null {
  const found = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (found === null) return null;
  const micro = BigInt(found[1] ?? '0') * 1_000_000n + BigInt((found[2] ?? '').padEnd(6, '0'));
  return micro > 0n ? micro : null;
}
