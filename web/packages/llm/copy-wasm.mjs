// Copies the WebAssembly into the package's dist folder. CMake's preset `web` builds it; WEFT_ENGINE_DIR names another folder to copy from.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const from = path.resolve(process.env.WEFT_ENGINE_DIR ?? path.join(here, '../../../build/web/engine'));
for (const name of ['weft_llm.mjs', 'weft_llm.wasm']) {
  const file = path.join(from, name);
  if (fs.existsSync(file)) fs.copyFileSync(file, path.join(here, 'dist', name));
  else console.warn(`The package is built without ${name}: ${file} does not exist (cmake --preset web, then ninja -C build/web).`);
}
