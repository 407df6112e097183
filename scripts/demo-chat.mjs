#!/usr/bin/env node
// The chat of `weft demo`: four tabs of a headless Chromium, each with storage and therefore a
// wallet of its own. Three tabs serve a small model as a chain over WebRTC and answer a question
// through the official `openai` client. One is closed in the middle of the answer, and the fourth
// takes its place.
//
//   node scripts/demo-chat.mjs --coordinator URL --weft PROGRAM --chromium PROGRAM --model FILE.gguf --scratch FOLDER [--stay]
//
// The script writes JSON lines to standard output: {"say"}, and one of {"chat"}, {"missing"},
// {"failed"} at the end. With --stay the tabs stay open until SIGTERM, or until the process that
// started the script is gone.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    coordinator: { type: 'string' },
    weft: { type: 'string' },
    chromium: { type: 'string' },
    model: { type: 'string' },
    scratch: { type: 'string' },
    stay: { type: 'boolean', default: false },
  },
});

const messages = [{ role: 'user', content: 'What is the capital of Japan?' }];
const name = path.basename(options.model, '.gguf');
const tabsWanted = 4;
const shards = 3;
const lossesMax = 12;
// Long enough for a machine with two slow cores that does other work too.
const patienceMs = 120_000;

// The tabs have no GPU, because a GPU in software is slower than the processor itself.
const flags = [
  '--disable-features=WebGPU,WebGPUService', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

function tell(line) { process.stdout.write(`${JSON.stringify(line)}\n`); }
const say = (text) => tell({ say: text });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const short = (key) => `${key.slice(0, 8)}..`;

async function until(test, what) {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`After ${patienceMs / 1000} s it is still not so that ${what}.`);
    await pause(50);
  }
}

/** Runs the program to its end and returns its standard output. */
function weft(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(options.weft, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let problem = '';
    child.stdout.on('data', (data) => { out += data; });
    child.stderr.on('data', (data) => { problem += data; });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`weft ${args[0]} ends with ${code}: ${problem.trim()}`))));
  });
}

async function getJson(where) {
  const answer = await fetch(`${options.coordinator}${where}`);
  if (!answer.ok) throw new Error(`${where} answers ${answer.status}.`);
  return answer.json();
}

const tabs = new Map(); // Tabs by the key of their wallet.

async function openTab(browser) {
  const context = await browser.newContext();
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  await page.goto(`${options.coordinator}/?start=1`);
  await page.locator('[data-testid="connection"][data-state="open"]').waitFor();
  const key = await page.locator('[data-testid="address"]').getAttribute('data-address');
  tabs.set(key, { context, page });
  await until(async () => (await getJson('/v1/serving')).workers.some(({ worker }) => worker === key), 'the tab serves language models');
  return key;
}

/** The answer of `weft generate` on this machine: the tokens' texts. */
async function generated() {
  const file = path.join(options.scratch, 'messages.json');
  fs.writeFileSync(file, JSON.stringify(messages));
  const { text, tokens } = JSON.parse(await weft(['generate', '--model', options.model, '--messages', file, '--device', 'cpu', '--json']));
  return { text, tokens: tokens.map((token) => token.text).filter(Boolean) };
}

/** Asks the question, streamed; `onPiece` is called with the first piece of text. `heard` is the text before the longest pause. */
async function ask(openai, onPiece = () => {}) {
  const asked = performance.now();
  const stream = await openai.chat.completions.create({ model: name, messages, temperature: 0, logprobs: true, stream: true, stream_options: { include_usage: true } });
  const answer = { text: '', tokens: [], weft: null, firstMs: 0, longestMs: 0, heard: '' };
  let last = 0;
  for await (const chunk of stream) {
    answer.weft ??= chunk.weft ?? null;
    const [choice] = chunk.choices;
    for (const { token } of choice?.logprobs?.content ?? []) if (token) answer.tokens.push(token);
    const piece = choice?.delta?.content ?? '';
    if (!piece) continue;
    const now = performance.now();
    if (last === 0) {
      answer.firstMs = now - asked;
      onPiece();
    } else if (now - last > answer.longestMs) {
      answer.longestMs = now - last;
      answer.heard = answer.text;
    }
    last = now;
    answer.text += piece;
  }
  if (answer.weft === null) throw new Error('The answer does not say who gave it.');
  return answer;
}

async function chat(OpenAI, browser) {
  say(`four tabs open, each with a wallet of its own; the question goes to ${name}`);
  await Promise.all(Array.from({ length: tabsWanted }, () => openTab(browser)));
  const expected = await generated();

  say(`adding the model (${(fs.statSync(options.model).size / 2 ** 20).toFixed(1)} MiB); its layers go to ${shards} tabs, the fourth stands by`);
  const wallet = path.join(options.scratch, 'client.json');
  await weft(['model', 'add', options.model, '--name', name, '--shards', String(shards), '--coordinator', options.coordinator, '--wallet', wallet, '--wait']);

  const openai = new OpenAI({ baseURL: `${options.coordinator}/v1`, apiKey: 'none', maxRetries: 0, timeout: patienceMs });
  const whole = await ask(openai);
  say(`the chain is ${whole.weft.workers.map(short).join(' > ')} over ${whole.weft.transport}; without a loss it answers "${whole.text}"`);
  const same = (answer) => JSON.stringify(answer.tokens) === JSON.stringify(expected.tokens) && answer.text === expected.text;
  if (!same(whole)) throw new Error(`The chain answers "${whole.text}" where weft generate says "${expected.text}".`);

  // The answer is short. If a tab takes longer to close than the answer takes, it must be closed a
  // little before the answer's first word. How much earlier is found by trying. The tab is lost in
  // any case, and the next tab takes its place.
  let { weft: { workers: chain }, firstMs } = whole;
  let leadMs = 0;
  for (let round = 0; round < lossesMax; ++round) {
    if (tabs.size < tabsWanted) await openTab(browser);
    await until(async () => (await getJson('/v1/serving')).models.some(({ model, covered }) => model === name && covered === shards), 'three tabs serve and one stands by');
    const { page, context } = tabs.get(chain[1]);
    let closing = null;
    const close = () => { closing ??= page.close().then(() => context.close()); };
    const early = leadMs > 0 ? setTimeout(close, Math.max(0, firstMs - leadMs)) : null;
    const answer = await ask(openai, close);
    clearTimeout(early);
    await closing;
    tabs.delete(chain[1]);
    const { resumed, transport } = answer.weft;
    if (!same(answer)) throw new Error(`With a tab closed the chain answers "${answer.text}" where weft generate says "${expected.text}".`);
    if (resumed > 0 && answer.heard) {
      say(`tab ${short(chain[1])} was closed at the bar, and another took its layers: "${answer.heard}|${answer.text.slice(answer.heard.length)}"`);
      say(`the pause was ${(answer.longestMs / 1000).toFixed(2)} s; the ${answer.tokens.length} tokens are those of weft generate`);
      return { answer: answer.text, shards: answer.weft.shards, transport, resumed, tokens: answer.tokens.length, pause_ms: Math.round(answer.longestMs), workers: answer.weft.workers };
    }
    say(resumed > 0 ? 'the tab had gone before the first word; once more, and later' : 'the answer was there before the tab had gone; once more, and earlier');
    leadMs = Math.max(0, leadMs + (resumed > 0 ? -10 : 20));
    ({ weft: { workers: chain }, firstMs } = await ask(openai));
  }
  throw new Error(`In ${lossesMax} answers no tab was lost in the middle.`);
}

function load(module) {
  try {
    return createRequire(new URL('../web/package.json', import.meta.url))(module);
  } catch {
    return null;
  }
}

let browser = null;
async function leave(code) {
  await Promise.race([browser?.close().catch(() => {}), pause(3000)]);
  process.exit(code);
}
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void leave(0));
const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) void leave(1); }, 500).unref();

const openai = load('openai');
const playwright = load('playwright-core');
if (openai === null || playwright === null) {
  tell({ missing: `no ${openai === null ? 'openai' : 'playwright-core'} in ${fileURLToPath(new URL('../web/node_modules', import.meta.url))} (npm ci there)` });
  process.exit(0);
}
try {
  browser = await playwright.chromium.launch({ executablePath: options.chromium, headless: true, args: flags, timeout: patienceMs, handleSIGINT: false, handleSIGTERM: false });
  tell({ chat: await chat(openai.default, browser) });
  if (options.stay) await new Promise(() => { setInterval(() => {}, 1 << 30); });
  await leave(0);
} catch (error) {
  tell({ failed: error instanceof Error ? error.message : String(error) });
  await leave(1);
}
