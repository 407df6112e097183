// Measures the time that 10 KB take from one tab to another and back, in two ways that alternate:
// over the lines of a chain (web/src/engine/peers.ts on the page, and
// src/apps/worker/web/serving_web.js in the engine's Worker, which gets the channel), and over a
// plain data channel. The tabs are two contexts of headless Chromium on this machine.
//   node bench/hops.mjs [--rounds 5] [--hops 1000] [--json]
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromiumFlags, findChromium, loadPlaywright } from '../tests/web/run.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, hops: { type: 'string', default: '1000' }, json: { type: 'boolean', default: false } } });
const bytes = 10 * 1024;
const { transformWithOxc } = await import(createRequire(path.join(root, 'web/package.json')).resolve('vite'));
const peers = path.join(root, 'web/src/engine/peers.ts');

// Replaces the WebAssembly that serving_web.js uses: it has memory, and copies bytes into it as
// weftInto() does.
const worker = `
let library;
const addToLibrary = (functions) => { library = functions; };
const HEAPU8 = new Uint8Array(1 << 18), Module = {}, UTF8ToString = () => '[]', weftUtf8 = (text) => new TextEncoder().encode(text);
${fs.readFileSync(path.join(root, 'src/apps/worker/web/serving_web.js'), 'utf8')}
const weftLines = library.$weftLines;
weftLines.epochs.set(1, 1);  // weft_lines_open() records the epoch in the same way.
let measuring = null, open = false;
const send = (member) => library.weft_lines_send(1, member, 0, ${bytes});
function weftLineNews(kind, chain, epoch, member, data) {
  if (kind === 2) { open = true; postMessage({ open: true }); }
  if (kind !== 1) return;
  HEAPU8.set(data, 1 << 17);
  HEAPU8.copyWithin(0, 1 << 17, (1 << 17) + data.length);
  if (measuring === null) { send(member); return; }
  measuring.times.push(performance.now() - measuring.sent);
  if (measuring.times.length === measuring.hops) { postMessage({ times: measuring.times }); measuring = null; return; }
  measuring.sent = performance.now();
  send(member);
}
onmessage = ({ data }) => {
  if (data.news) { library.$weftLinesTake(data.news); return; }
  measuring = { hops: data.hops, times: [], sent: performance.now() };
  send(data.member);
};`;

const page = `
import { Peers } from '/peers.mjs';
const worker = new Worker('/worker.js');
let opened, told;
window.lineOpen = new Promise((resolve) => { opened = resolve; });
worker.onmessage = ({ data }) => { if (data.open) opened(); else told(data.times); };
let index = 0;
const peers = new Peers({ say: (news, transfer) => {
  if (news.type === 'signal') window.signal(JSON.stringify({ from: index, text: news.text, kind: 'line' }));
  else worker.postMessage({ news }, transfer);
} });
window.begin = async (self) => {
  index = self;
  await peers.take({ type: 'open', chain: 1, epoch: 1, index, members: [1 - index], iceServers: [] });
};
window.measureLine = (hops) => new Promise((resolve) => { told = resolve; worker.postMessage({ hops, member: 1 - index }); });

// The plain data channel.
let connection, channel, rawOpened, early = [];
window.rawOpen = new Promise((resolve) => { rawOpened = resolve; });
const use = (one) => {
  channel = one;
  channel.binaryType = 'arraybuffer';
  channel.onopen = rawOpened;
  channel.onmessage = ({ data }) => channel.send(data);
  if (channel.readyState === 'open') rawOpened();
};
window.beginRaw = async (self) => {
  connection = new RTCPeerConnection();
  const say = (what) => window.signal(JSON.stringify({ from: self, text: JSON.stringify(what), kind: 'raw' }));
  connection.onicecandidate = ({ candidate }) => { if (candidate) say({ candidate: candidate.toJSON() }); };
  connection.ondatachannel = ({ channel: one }) => use(one);
  if (self === 0) {
    use(connection.createDataChannel('raw', { ordered: true }));
    await connection.setLocalDescription();
    say({ description: connection.localDescription.toJSON() });
  }
};
window.measureRaw = (hops) => new Promise((resolve) => {
  const payload = new Uint8Array(${bytes}), times = [];
  let sent;
  const next = () => { sent = performance.now(); channel.send(payload); };
  channel.onmessage = () => {
    times.push(performance.now() - sent);
    if (times.length === hops) resolve(times); else next();
  };
  next();
});
window.hear = async ({ from, text, kind }) => {
  if (kind === 'line') return peers.take({ type: 'signal', chain: 1, epoch: 1, from, text });
  const { description, candidate } = JSON.parse(text);
  if (description) {
    await connection.setRemoteDescription(description);
    for (const one of early.splice(0)) await connection.addIceCandidate(one);
    if (description.type === 'offer') {
      await connection.setLocalDescription();
      window.signal(JSON.stringify({ from: 1 - from, text: JSON.stringify({ description: connection.localDescription.toJSON() }), kind }));
    }
  } else if (connection.remoteDescription) await connection.addIceCandidate(candidate);
  else early.push(candidate);
};
window.ready = true;`;

const files = {
  '/': ['text/html', '<!doctype html><title>hops</title><script type="module" src="/page.mjs"></script>'],
  '/page.mjs': ['text/javascript', page],
  '/worker.js': ['text/javascript', worker],
  '/peers.mjs': ['text/javascript', (await transformWithOxc(fs.readFileSync(peers, 'utf8'), peers)).code],
};
const server = http.createServer((request, response) => {
  const found = files[request.url];
  // The page is isolated, so that its clock is exact to 5 us.
  response.writeHead(found ? 200 : 404, { 'content-type': found?.[0] ?? 'text/plain', 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' });
  response.end(found?.[1] ?? '');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await loadPlaywright().chromium.launch({ executablePath: findChromium(), headless: true, args: chromiumFlags });
const tabs = [];
for (let i = 0; i < 2; ++i) {
  const tab = await (await browser.newContext()).newPage();
  tab.on('pageerror', (error) => console.error(error));
  await tab.exposeFunction('signal', async (text) => {
    const signal = JSON.parse(text);
    await tabs[1 - signal.from].evaluate((what) => window.hear(what), signal);
  });
  await tab.goto(`http://127.0.0.1:${server.address().port}/`);
  await tab.waitForFunction(() => window.ready);
  tabs.push(tab);
}
for (const what of ['begin', 'beginRaw']) for (const i of [1, 0]) await tabs[i].evaluate(([name, index]) => window[name](index), [what, i]);
for (const tab of tabs) await tab.evaluate(() => Promise.all([window.lineOpen, window.rawOpen]).then(() => true));

const measure = (what, hops) => tabs[0].evaluate(([name, count]) => window[name](count), [what, hops]);
const percentile = (times, share) => times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))];
const median = (values) => percentile(values, 0.5);
for (const what of ['measureLine', 'measureRaw']) await measure(what, 200);
const rounds = [];
for (let round = 0; round < Number(options.rounds); ++round) {
  const line = [];
  const raw = [];
  for (let done = 0; done < Number(options.hops); done += 50) {
    line.push(...(await measure('measureLine', 50)));
    raw.push(...(await measure('measureRaw', 50)));
  }
  rounds.push({ line50: percentile(line, 0.5), line99: percentile(line, 0.99), raw50: percentile(raw, 0.5), raw99: percentile(raw, 0.99) });
}
const row = (name, ours, theirs, goal) => {
  const value = median(rounds.map((round) => round[ours]));
  const peer = median(rounds.map((round) => round[theirs]));
  return { name, value, unit: 'ms, 10 KB there and back', peer: 'bare data channel', peer_value: peer, ratio: value / peer, goal, reached: goal !== '' && value / peer <= 1.2, rounds: rounds.length };
};
const rows = [row('hop/webrtc p50', 'line50', 'raw50', ''), row('hop/webrtc p99', 'line99', 'raw99', '<= 1.2')];
if (options.json) console.log(JSON.stringify({ rows }));
else for (const { name, value, peer_value, ratio, goal, reached } of rows) console.log(`${name.padEnd(16)} ${value.toFixed(3)} ms, bare data channel ${peer_value.toFixed(3)} ms: ${ratio.toFixed(2)}x${goal ? ` (${goal}: ${reached ? 'yes' : 'no'})` : ''}`);
await browser.close();
server.close();
