// Bundles the code that the Worker imports from other packages into the Worker's file, so that dist runs without a bundler: a browser
// cannot resolve names of packages. The modules of this package stay separate files.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = path.join(path.dirname(fileURLToPath(import.meta.url)), 'dist');
const file = path.join(dist, 'worker/download.js');

const bundle = await rolldown({
  input: file,
  platform: 'browser',
  external: (name, importer) => name.startsWith('.') && importer === file,
  // Every warning is an error, above all that of a package that is not installed.
  onwarn: ({ message }) => {
    throw new Error(message);
  },
});
await bundle.write({ file, format: 'esm' });
await bundle.close();
