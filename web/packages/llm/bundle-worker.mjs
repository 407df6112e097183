// Puts what the Worker imports from other packages into its file, so that the package runs as it lies in dist: a browser
// without a bundler knows no names of packages. The modules of this package stay files of their own.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = path.join(path.dirname(fileURLToPath(import.meta.url)), 'dist');
const file = path.join(dist, 'worker/download.js');

const bundle = await rolldown({
  input: file,
  platform: 'browser',
  external: (name, importer) => name.startsWith('.') && importer === file,
  // Above all a package that is not installed.
  onwarn: ({ message }) => {
    throw new Error(message);
  },
});
await bundle.write({ file, format: 'esm' });
await bundle.close();
