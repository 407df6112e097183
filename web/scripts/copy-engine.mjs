// Copies the engine into web/dist, from which the coordinator serves it together with the page.
// CMake's preset `web` builds the engine, Vite the page. Without a built engine the page works
// except for the parts that need the engine, and says what is missing.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const from = path.resolve(process.env.WEFT_ENGINE_DIR ?? path.join(here, '../../build/web/engine'));
const to = path.resolve(here, '../dist/engine');
const files = ['weft_engine.mjs', 'weft_engine.wasm', 'weft_llm.mjs', 'weft_llm.wasm', 'weft_onnx.mjs', 'weft_onnx.wasm'];

const missing = files.filter((name) => !fs.existsSync(path.join(from, name)));
if (missing.length > 0) {
  console.warn(`The page is built without its engine: ${path.join(from, missing[0])} does not exist (cmake --preset web, then ninja -C build/web).`);
} else {
  fs.mkdirSync(to, { recursive: true });
  for (const name of files) fs.copyFileSync(path.join(from, name), path.join(to, name));
}
