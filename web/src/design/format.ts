// Formats numbers for the page.

/** `micro` is an amount in micro-credits, the unit of all messages. */
export function formatCredits(micro: number): string {
  const credits = micro / 1e6;
  const size = Math.abs(credits);
  if (size === 0) return '0';
  if (size < 0.0001) return credits.toLocaleString('en', { maximumFractionDigits: 6 });
  if (size < 1) return credits.toFixed(4);
  const digits = size < 10 ? 4 : size < 1000 ? 2 : 0;
  return credits.toLocaleString('en', { minimumFractionDigits: Math.min(2, digits), maximumFractionDigits: digits });
}

export function formatRate(value: number): string {
  if (value === 0) return '0';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toLocaleString('en', { maximumSignificantDigits: value < 1 ? 2 : 3 });
}

/** Splits a rate into a short number and an SI prefix: 1.38e9 becomes "1.38" and "G". */
export function prefixed(value: number): { readonly value: string; readonly prefix: string } {
  const steps = [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const;
  const [size, prefix] = steps.find(([one]) => value >= one) ?? [1, ''];
  return { value: formatRate(value / size), prefix };
}

export function formatPrefixed(value: number, unit: string): string {
  const short = prefixed(value);
  return `${short.value} ${short.prefix}${unit}`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0 })} ${units[unit]}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds > 0 && seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toLocaleString('en', { maximumSignificantDigits: 3 })} ms`;
  if (seconds < 100) return `${seconds.toLocaleString('en', { maximumSignificantDigits: 3 })} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Shortens an id or an address to its two ends. The whole text must be available in a title or a copy button. */
export function shorten(text: string, head = 6, tail = 4): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
