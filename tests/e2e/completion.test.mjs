// The completions that the scripts offer, tested in the shells themselves. A shell that is not
// installed is skipped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, scratch } from './lib.mjs';

const has = (shell) => spawnSync(shell, ['-c', 'true']).status === 0;

/** Makes a folder with a file, a folder and the completion script. */
async function place(t, shell) {
  const folder = scratch(t);
  fs.writeFileSync(path.join(folder, 'job.json'), '');
  fs.writeFileSync(path.join(folder, 'two words.json'), '');
  fs.mkdirSync(path.join(folder, 'results'));
  const { code, stdout, stderr } = await run(['completion', shell]);
  assert.equal(code, 0, stderr);
  const script = path.join(scratch(t), 'script');
  fs.writeFileSync(script, stdout);
  return { folder, script };
}

const words = (text) => text.split('\n').filter(Boolean).sort();
const ask = (shell, args, cwd) => {
  const { status, stdout, stderr } = spawnSync(shell, args, { cwd, encoding: 'utf8', timeout: 20_000 });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return words(stdout);
};

// Cuts a line as bash does: at blanks, with "=" as a word of its own.
const bashWords = (line) => line.split(' ').flatMap((word) => word.split(/(=)/).filter((part, i) => part !== '' || i === 0));

const shells = {
  bash: (script, folder, line) => ask('bash', ['--norc', '-c', `source '${script}'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; printf '%s\\n' "\${COMPREPLY[@]}"`, 'bash', ...bashWords(line)], folder),
  // zsh's own function for files, and its function that takes words, print their words instead of
  // drawing on a terminal.
  zsh: (script, folder, line) => ask('zsh', ['-f', '-c', `compdef() { :; }; source '${script}'; _files() { if [[ $1 = -/ ]]; then print -l *(/N); else print -l *(N); fi; }; compset() { PREFIX=\${PREFIX#*=}; }
compadd() { shift; for word in "$@"; do [[ $word = $PREFIX* ]] && print -r -- $word; done; return 0; }; words=("$@"); CURRENT=$#; PREFIX=\${words[-1]}; _weft`, 'zsh', ...line.split(' ')], folder),
  fish: (script, folder, line) => ask('fish', ['--no-config', '-c', `source '${script}'; complete -C '${line}' | string replace -r '\\t.*' '' | string replace -r '^--?[a-z-]+=' ''; true`], folder).map((word) => word.replace(/\/$/, '')),
};

for (const [shell, complete] of Object.entries(shells)) {
  test(`${shell} completes commands, options, files, folders and words`, { timeout: 60_000, skip: !has(shell) && `no ${shell}` }, async (t) => {
    const { folder, script } = await place(t, shell);
    const offers = (line) => complete(script, folder, line);
    const files = ['job.json', 'results', 'two words.json'];

    assert.deepEqual(offers('weft wal'), ['wallet']);
    assert.deepEqual(offers('weft wallet '), ['data', 'forget', 'new', 'redeem', 'show', 'statement']);
    assert.deepEqual(offers('weft bench '), ['attacks', 'coordinator', 'embed', 'gpu', 'hostile', 'llm', 'serving']);
    assert.deepEqual(offers('weft submit --fol'), ['--follow']);
    assert.deepEqual(offers('weft wallet show --f'), ['--file']);
    assert.deepEqual(offers('weft serve --fo'), [], 'an option of another command');
    assert.ok(!offers('weft ').includes('schema'), 'what is hidden');

    assert.deepEqual(offers('weft submit '), files);
    assert.deepEqual(offers('weft run --out results '), files, 'the value of an option is not an argument');
    assert.deepEqual(offers('weft submit --wallet '), files);
    assert.deepEqual(offers('weft model add '), files);
    assert.deepEqual(offers('weft serve --data '), ['results']);
    assert.deepEqual(offers('weft run job.json --out '), ['results']);

    assert.deepEqual(offers('weft run --device '), ['cpu', 'gpu']);
    assert.deepEqual(offers('weft run --device c'), ['cpu']);
    assert.deepEqual(offers('weft run --device=c'), ['cpu']);
    assert.deepEqual(offers('weft serve --partition '), ['batch', 'hybrid', 'layer']);
    assert.deepEqual(offers('weft generate --kv '), ['f16', 'f32', 'q8_0']);
    assert.deepEqual(offers('weft completion '), ['bash', 'fish', 'zsh']);
    assert.deepEqual(offers('weft submit --follow '), [], 'there is no job to offer');
    assert.deepEqual(offers('weft generate -n '), []);
  });
}

test('in bash a name with a blank stays one word', { timeout: 60_000 }, async (t) => {
  const { folder, script } = await place(t, 'bash');

  assert.deepEqual(shells.bash(script, folder, 'weft run two'), ['two words.json']);
});
