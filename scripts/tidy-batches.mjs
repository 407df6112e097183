// The second part of scripts/tidy, which runs when the compile commands are known: it reads the
// sources with clang-tidy, many in one run, and skips batches that have not changed since their
// last clean run.
//
//   node scripts/tidy-batches.mjs [FOLDER]      below src, such as decisions; none: every source. WEFT_TIDY_ROOT: another tree
//
// A batch is several sources, or several of CMake's own batches, of one part of src, because two
// thirds of the time of a small run are the headers of GoogleTest and the standard library. No two
// sources of a batch open the same namespace, so that their unnamed namespaces cannot clash. Of a
// source's text only its namespaces decide which batch holds it.
//
// The stamp of a clean batch (build/tidy/batches/NAME.json) is a hash of all that its result
// depends on: clang-tidy's version, its settings, this script, the flags, each file that the run
// read, and the other files that have the name of such a file (a new file with that name could be
// included instead).
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(import.meta.url);
const root = process.env.WEFT_TIDY_ROOT ?? path.resolve(path.dirname(script), '..');
const build = path.join(root, 'build/tidy');
const folder = path.join(build, 'batches');
const wanted = process.argv[2] ?? '';
const program = 'clang-tidy-21';
// The most rows (sources, or batches of CMake) in a batch: more would save little and make a batch
// take much longer.
const rowsMax = 6;

// --- The choice of what is read.

// The words of a command of compile_commands.json, which quotes with backslashes and double quotes.
function words(command) {
  return [...command.matchAll(/(?:\\.|"(?:\\.|[^"\\])*"|[^\s"\\])+/g)].map(([word]) =>
    word.replace(/"((?:\\.|[^"\\])*)"/g, '$1').replace(/\\(.)/g, '$1'),
  );
}

function flagsOf(command) {
  const out = [];
  const all = words(command);
  for (let i = 1; i < all.length; i += 1) {
    if (all[i] === '-o' || all[i] === '-c') i += 1;
    else if (all[i] === '-isystem' || all[i] === '-I') out.push(`${all[i]} ${all[(i += 1)]}`);
    // Leaves out --param, which sets the memory use of GCC and which clang refuses.
    else if (!all[i].startsWith('--param=')) out.push(all[i]);
  }
  return out;
}

// The sources of one of CMake's batches, or the source itself.
function sourcesOf(file) {
  if (!/\/Unity\/unity_\d+_cxx\.cxx$/.test(file)) return [file];
  return [...fs.readFileSync(file, 'utf8').matchAll(/^#include "(.+)"$/gm)].map(([, source]) => source);
}

// Returns the namespaces that the sources open. No two sources of one batch may open the same
// namespace.
function scopesOf(sources) {
  const out = new Set();
  for (const source of sources) {
    const text = fs.readFileSync(source, 'utf8');
    const named = [...text.matchAll(/^namespace ([a-z_:]+) \{/gm)].map(([, name]) => name);
    for (const name of named) out.add(name);
    if (/^int main\(/m.test(text)) out.add('main()');
    if (named.length === 0) out.add('the global namespace');
  }
  return out;
}

function batches() {
  const parts = new Map();
  const seen = new Set();
  for (const row of JSON.parse(fs.readFileSync(path.join(build, 'compile_commands.json'), 'utf8'))) {
    if (row.file.endsWith('/precompiled.cpp') || seen.has(row.file)) continue;
    seen.add(row.file);
    const sources = sourcesOf(row.file);
    const places = sources.map((source) => path.relative(root, source));
    const top = places[0].split(path.sep);
    // The fuzzers are put into the batches of apps.
    const part = top[0] === 'fuzz' ? 'apps' : top[1];
    const all = parts.get(part) ?? parts.set(part, []).get(part);
    const scopes = scopesOf(sources);
    let batch = all.find((one) => one.rows.length < rowsMax && [...scopes].every((scope) => !one.scopes.has(scope)));
    if (!batch) all.push((batch = { name: `${part}_${all.length}`, rows: [], scopes: new Set(), flags: [], places: [], bytes: 0 }));
    batch.rows.push(row.file);
    batch.places.push(...places);
    for (const scope of scopes) batch.scopes.add(scope);
    for (const flag of flagsOf(row.command)) if (!batch.flags.includes(flag)) batch.flags.push(flag);
    for (const source of sources) batch.bytes += fs.statSync(source).size;
  }
  return [...parts.values()].flat();
}

// --- The check whether a batch must run again.

const hashes = new Map();
function hashOf(file) {
  if (!hashes.has(file)) {
    let hash = 'missing';
    try {
      hash = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
    } catch {
      // A file that cannot be read counts as changed.
    }
    hashes.set(file, hash);
  }
  return hashes.get(file);
}

// Our own files, by the last part of their path.
const own = new Map();
for (const part of ['src', 'fuzz', 'build/tidy/generated']) {
  const base = path.join(root, part);
  if (!fs.existsSync(base)) continue;
  for (const entry of fs.readdirSync(base, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) own.set(entry.name, [...(own.get(entry.name) ?? []), path.join(entry.parentPath, entry.name)].sort());
  }
}

const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout;
function keyOf(batch, files) {
  const hash = createHash('sha256');
  const put = (text) => hash.update(`${text}\0`);
  [version, hashOf(script), hashOf(path.join(root, '.clang-tidy')), ...batch.flags, ...batch.rows].forEach(put);
  for (const file of [...files].sort()) [file, hashOf(file), ...(own.get(path.basename(file)) ?? [])].forEach(put);
  return hash.digest('hex');
}

const stampOf = (batch) => path.join(folder, `${batch.name}.json`);
function isClean(batch) {
  try {
    const { key, files } = JSON.parse(fs.readFileSync(stampOf(batch), 'utf8'));
    return key === keyOf(batch, files);
  } catch {
    return false;
  }
}

// --- The runs of clang-tidy.

function tidy(batch) {
  const source = path.join(folder, `${batch.name}.cpp`);
  fs.writeFileSync(source, batch.rows.map((row) => `#include "${row}"\n`).join(''));
  fs.rmSync(stampOf(batch), { force: true });
  const begun = Date.now();
  const child = spawn(
    program,
    // -H prints the name of each file that is read.
    ['--quiet', `--config-file=${path.join(root, '.clang-tidy')}`, source, '--', ...batch.flags.flatMap((flag) => flag.split(/ (?=\/)/)),
      '-Wno-unknown-warning-option', '-H'],
    { cwd: build, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const out = [];
  const said = [];
  child.stdout.on('data', (data) => out.push(data));
  child.stderr.on('data', (data) => said.push(data));
  return new Promise((done) => {
    child.on('error', (error) => done([`${batch.name}: ${program} does not run: ${error.message}`]));
    child.on('close', (code) => {
      const text = Buffer.concat(out).toString();
      const others = Buffer.concat(said).toString();
      if (code !== 0 || /(error|warning): /.test(text)) {
        const found = text.split(/\n(?=\/[^ ]*:\d+:\d+: (?:error|warning): )/).filter((one) => one.trim() !== '');
        const lines = others.split('\n').filter((line) => !/^\.+ \//.test(line));
        return done(found.length > 0 ? found : [`${batch.name}: ${program} ends with ${code}: ${lines.slice(-20).join('\n')}`]);
      }
      const read = [...others.matchAll(/^\.+ (\/.*)$/gm)].map(([, file]) => path.normalize(file));
      const files = [...new Set([source, ...read])];
      // A file that was changed during the run was perhaps read in its old form. A run that names
      // no file proves nothing.
      const steady = read.length >= batch.rows.length && files.slice(1).every((file) => fs.statSync(file).ctimeMs < begun);
      files.forEach((file) => hashes.delete(file));
      if (steady) fs.writeFileSync(stampOf(batch), JSON.stringify({ key: keyOf(batch, files), files }));
      done([]);
    });
  });
}

fs.mkdirSync(folder, { recursive: true });
const chosen = batches().filter((batch) => batch.places.some((place) => !wanted || place.startsWith(`src/${wanted}/`)));
if (chosen.length === 0) {
  console.error(`scripts/tidy: No source lies below src/${wanted}.`);
  process.exit(2);
}
const changed = chosen.filter((batch) => !isClean(batch)).sort((a, b) => b.bytes - a.bytes);
const findings = new Set();
const queue = [...changed];
await Promise.all(
  Array.from({ length: os.availableParallelism() }, async () => {
    for (let batch = queue.shift(); batch; batch = queue.shift()) {
      const begun = Date.now();
      for (const finding of await tidy(batch)) findings.add(finding.trimEnd());
      if (process.env.WEFT_TIDY_TIMES) console.log(`${((Date.now() - begun) / 1000).toFixed(1)} s  ${batch.name}: ${batch.rows.length} sources or batches`);
    }
  }),
);
if (findings.size > 0) {
  for (const finding of [...findings].sort()) console.log(finding);
  console.log(`${findings.size} findings`);
  process.exit(1);
}
console.log(`clang-tidy: ${chosen.length} batches, no findings (${changed.length} read, ${chosen.length - changed.length} unchanged since they were clean)`);
