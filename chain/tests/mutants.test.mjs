// Plays all mutants of one build; with scripts/test --long each is also built from source.
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const run = (...options) => execFileSync(process.execPath, [fileURLToPath(new URL('mutants.mjs', import.meta.url)), ...options], { stdio: ['ignore', 'inherit', 'inherit'], timeout: 900_000 });

test('no mutant of the program lives', () => run());
if (process.env.WEFT_LONG) test('no mutant lives that is built from source', () => run('--from-source'));
