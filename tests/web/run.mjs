#!/usr/bin/env node
// Runs a WebAssembly program in a dedicated Worker of headless Chromium (WebGPU on SwiftShader),
// prints the program's output, and ends with its exit code.
//
//   node tests/web/run.mjs build/web/bin/gpu_conformance.mjs [ARGUMENT...]
//
// Variables: WEFT_CHROMIUM names the browser (otherwise the first of chromium, google-chrome and
// chrome that is on the path), WEFT_TIMEOUT_S is the time limit in seconds (120), and WEFT_WEB_ROOT
// is the folder that is served (the program's own). Exit codes: that of the program; 2 if the
// arguments are wrong, 3 if Chromium or playwright-core is missing, 4 if the program crashes, 5 if
// the time limit is reached.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { serve } from './serve.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

function leave(code, message) {
  console.error(message);
  process.exit(code);
}

// playwright-core is a dependency of the web app; PLAYWRIGHT_FROM names another folder to take it from.
export function loadPlaywright() {
  const roots = [process.env.PLAYWRIGHT_FROM, path.join(here, '../../web'), here].filter(Boolean);
  for (const root of roots) {
    try {
      return createRequire(path.join(root, 'package.json'))('playwright-core');
    } catch {
      continue;
    }
  }
  return null;
}

export function findChromium() {
  if (process.env.WEFT_CHROMIUM) return process.env.WEFT_CHROMIUM;
  for (const name of ['chromium', 'google-chrome', 'chrome']) {
    const found = spawnSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    if (found) return found;
  }
  return null;
}

// With these options WebGPU works without a GPU, and the browser does not use the network.
export const chromiumFlags = [
  '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

async function main() {
  const [program, ...programArguments] = process.argv.slice(2);
  if (!program || !fs.existsSync(program)) leave(2, `usage: run.mjs PROGRAM.mjs [ARGUMENT...] (${program ?? 'no program'} is not there)`);
  const playwright = loadPlaywright();
  if (!playwright) leave(3, 'playwright-core is missing: run npm ci in web/.');
  const executablePath = findChromium();
  if (!executablePath) leave(3, 'There is no Chromium: install one or name it in WEFT_CHROMIUM.');
  const timeoutMs = 1000 * Number(process.env.WEFT_TIMEOUT_S ?? 120);

  const file = path.resolve(program);
  const root = path.resolve(process.env.WEFT_WEB_ROOT ?? path.dirname(file));
  const server = await serve(root, { '/': path.join(here, 'page.html'), '/run-worker.mjs': path.join(here, 'worker.mjs') });
  const browser = await playwright.chromium.launch({ executablePath, headless: true, args: chromiumFlags });
  let code;
  try {
    const page = await browser.newPage();
    page.on('console', (message) => console.error(`console: ${message.text()}`));
    const ended = new Promise((resolve) => {
      page.on('crash', () => resolve({ code: 4, error: 'The page crashed.' }));
      browser.on('disconnected', () => resolve({ code: 4, error: 'The browser ended.' }));
      setTimeout(() => resolve({ code: 5, error: `The program did not end within ${timeoutMs / 1000} s.` }), timeoutMs).unref();
      void page.exposeFunction('weftMessage', (message) => {
        if (message.line !== undefined) console.log(message.line);
        if (message.errorLine !== undefined) console.error(message.errorLine);
        if (message.exit !== undefined) resolve({ code: message.exit });
        if (message.failed !== undefined) resolve({ code: 4, error: message.failed });
      });
    });
    await page.goto(`${server.url}/`);
    await page.evaluate(([url, args]) => window.weftStart(url, args), ['/' + path.relative(root, file).split(path.sep).join('/'), programArguments]);
    const result = await ended;
    if (result.error) console.error(result.error);
    code = result.code;
  } finally {
    await Promise.race([browser.close(), new Promise((resolve) => setTimeout(resolve, 5000))]);
    server.close();
  }
  process.exit(code);
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
