// Compute units, sizes of transactions and of the program stay within their goals; costs.mjs prints them.
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('instructions and the program stay within their goals', () => {
  execFileSync(process.execPath, [fileURLToPath(new URL('costs.mjs', import.meta.url))], { stdio: 'pipe' });
});
