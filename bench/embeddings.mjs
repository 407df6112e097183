// Measures how fast `weft bench embed` and llama.cpp's llama-server compute the vectors of 32 texts
// of 128 tokens on the same device. The two programs run alternately.
//   node bench/embeddings.mjs MODEL.gguf [--rounds 3] [--texts 32] [--tokens 128] [--cpu] [--json]
// On a machine without a GPU both use lavapipe. llama.cpp ignores Vulkan devices that are
// processors, so this script sets GGML_VK_VISIBLE_DEVICES=0 for it. With --cpu each program uses
// its own code for processors instead.
import { execFile, spawn } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { values: options, positionals: [model] } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' }, texts: { type: 'string', default: '32' }, tokens: { type: 'string', default: '128' },
    cpu: { type: 'boolean', default: false }, json: { type: 'boolean', default: false },
  },
});
if (!model) throw new Error('usage: node bench/embeddings.mjs MODEL.gguf');
const weft = process.env.WEFT ?? path.join(root, 'build/release/weft');
const [texts, tokens, rounds] = [options.texts, options.tokens, options.rounds].map(Number);
const rows = texts * tokens;

const freePort = () => new Promise((resolve) => {
  const one = net.createServer().listen(0, '127.0.0.1', () => { const { port } = one.address(); one.close(() => resolve(port)); });
});
const port = await freePort();
const device = options.cpu ? ['--device', 'none'] : ['--device', 'Vulkan0', '-ngl', '99'];
const server = spawn('llama-server', ['-m', model, '--port', String(port), '--embeddings', '--no-webui', '--no-warmup', '-np', String(texts),
  '-c', String(rows), '-b', String(rows), '-ub', String(rows), ...device], { env: { ...process.env, GGML_VK_VISIBLE_DEVICES: '0' } });
let log = '';
for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => { log += data; });
const ended = new Promise((resolve) => { server.on('exit', resolve); });

const ask = (route, body) => new Promise((resolve, reject) => {
  const request = http.request({ host: '127.0.0.1', port, path: route, method: body ? 'POST' : 'GET', headers: { 'Content-Type': 'application/json' } }, (answer) => {
    let text = '';
    answer.on('data', (data) => { text += data; });
    answer.on('end', () => (answer.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text))));
  });
  request.on('error', reject);
  request.end(body && JSON.stringify(body));
});

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
try {
  for (let tries = 0; ; tries += 1) {
    const up = await ask('/health').then(() => true, () => false);
    if (up) break;
    if (tries > 600 || server.exitCode !== null) throw new Error(`llama-server did not start:\n${log.slice(-2000)}`);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  // Both programs get the same number of tokens. The server adds no special tokens to a text that
  // is sent as a list of tokens.
  let seed = 1;
  const next = () => { seed = (seed * 48271) % 2147483647; return seed; };
  const words = 100;
  const input = Array.from({ length: texts }, () => Array.from({ length: tokens }, () => 5 + (next() % words)));
  const theirs = [], ours = [];
  let name = '';
  const they = async () => {
    const begun = performance.now();
    const { data } = await ask('/v1/embeddings', { input });
    if (data.length !== texts) throw new Error(`${data.length} vectors of ${texts} texts`);
    return rows / (performance.now() - begun) * 1000;
  };
  await they();  // The first request compiles the server's pipelines, so it is not measured.
  for (let round = 0; round < rounds; round += 1) {
    const { stdout } = await promisify(execFile)(weft, ['bench', 'embed', '--model', model, '--texts', String(texts), '--tokens', String(tokens), '--rounds', '1',
      '--device', options.cpu ? 'cpu' : 'gpu', '--json']);
    const result = JSON.parse(stdout);
    ours.push(result.value);
    name = result.device;
    theirs.push(await they());
  }
  const { stdout: listed } = await promisify(execFile)('llama-server', ['--list-devices'], { env: { ...process.env, GGML_VK_VISIBLE_DEVICES: '0' } });
  const theirDevice = options.cpu ? 'cpu' : /Vulkan0: (.*?) \(\d+ MiB/.exec(listed)?.[1] ?? 'Vulkan0';
  const result = { model: path.basename(model), test: `${texts}x${tokens}`, unit: 'token/s', weft: median(ours), llama: median(theirs), ratio: median(ours) / median(theirs), device: name, llama_device: theirDevice, weft_values: ours, llama_values: theirs };
  if (options.json) console.log(JSON.stringify(result));
  else console.log(`${result.model} ${result.test}: weft ${result.weft.toFixed(1)} token/s on ${name}; llama.cpp ${result.llama.toFixed(1)} token/s on ${theirDevice}; ${result.ratio.toFixed(2)}x`);
} finally {
  server.kill();
  await ended;
}
