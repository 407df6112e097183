// Checks that all files that a browser fetches for the first page before any click, including the
// page's small Worker, have less than 150 KB when they are compressed. The engine is fetched only
// after the click.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { fileURLToPath } from 'node:url';

const bytesMax = 150_000;
const dist = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../dist');

/** What index.html names, the fonts that its style sheets name, and the Worker that looks for a wallet. */
function firstPage() {
  const names = ['index.html'];
  const html = fs.readFileSync(path.join(dist, 'index.html'), 'utf8');
  for (const [, name] of html.matchAll(/(?:src|href)="\/([^"]+)"/g)) names.push(name);
  for (const sheet of names.filter((name) => name.endsWith('.css'))) {
    const css = fs.readFileSync(path.join(dist, sheet), 'utf8');
    for (const [, name] of css.matchAll(/url\(["']?\/([^"')]+)["']?\)/g)) names.push(name);
  }
  names.push(...fs.readdirSync(path.join(dist, 'assets')).filter((name) => name.startsWith('worker-')).map((name) => `assets/${name}`));
  return names;
}

let sum = 0;
for (const name of firstPage()) {
  const bytes = fs.readFileSync(path.join(dist, name));
  // The coordinator sends fonts unchanged and other files compressed.
  const sent = name.endsWith('.woff2') ? bytes.length : zlib.gzipSync(bytes, { level: 6 }).length;
  sum += sent;
  console.log(`${String(sent).padStart(8)}  ${name}`);
}
console.log(`${String(sum).padStart(8)}  the first page, of ${bytesMax} allowed`);
if (sum > bytesMax) {
  console.error('The first page has grown too large.');
  process.exitCode = 1;
}
