// The wallet file: the Solana id.json form, a JSON array of 64 numbers. Whether they are a key is for the engine to say.
export function parseWallet(text: string): readonly number[] | string {
  const refusal = 'This is not a wallet file: it should be a JSON array of 64 numbers from 0 to 255.';
  if (text.length > 4096) return refusal;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refusal;
  }
  if (!Array.isArray(value) || value.length !== 64) return refusal;
  const numbers: number[] = [];
  for (const number of value as unknown[]) {
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > 255) return refusal;
    numbers.push(number);
  }
  return numbers;
}
