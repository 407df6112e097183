// TURN for tabs. The servers of `weft serve --ice-servers` reach the RTCPeerConnection of each tab
// that has become established by its work. The tab gets a name and a password of its own, which the
// TURN server checks by the shared secret. Strangers get no relay. The server of this test
// implements as much of TURN (RFC 8656) as a browser's first request needs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import fs from 'node:fs';
import os from 'node:os';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { chromiumFlags, findChromium, loadPlaywright } from '../web/run.mjs';
import { contribute } from './browser.mjs';
import { getJson, root, run, scratch, serve, until } from './lib.mjs';

const { default: OpenAI } = createRequire(path.join(root, 'web/package.json'))('openai');
const secret = 'of the tests';
const realm = 'weft.test';
const attribute = { username: 0x0006, integrity: 0x0008, error: 0x0009, realm: 0x0014, nonce: 0x0015, mapped: 0x0020 };
const request = { binding: 0x0001, allocate: 0x0003 };

function attributes(message) {
  const out = new Map();
  for (let at = 20; at + 4 <= message.length; ) {
    const size = message.readUInt16BE(at + 2);
    out.set(message.readUInt16BE(at), { at, value: message.subarray(at + 4, at + 4 + size) });
    at += 4 + ((size + 3) & ~3);
  }
  return out;
}

function encode(type, value) {
  const out = Buffer.alloc(4 + ((value.length + 3) & ~3));
  out.writeUInt16BE(type, 0);
  out.writeUInt16BE(value.length, 2);
  Buffer.from(value).copy(out, 4);
  return out;
}

/** HMAC-SHA-1 over the message before this attribute, with the length that the message has up to and including the attribute. */
function signed(message, { at, value }, username) {
  const password = crypto.createHmac('sha1', secret).update(username).digest('base64');
  const key = crypto.createHash('md5').update(`${username}:${realm}:${password}`).digest();
  const before = Buffer.from(message.subarray(0, at));
  before.writeUInt16BE(at + 24 - 20, 2);
  return crypto.createHmac('sha1', key).update(before).digest().equals(value);
}

/** A TURN server; `proven` has the names of clients that proved that they know their password. */
async function turnServer(t) {
  const proven = new Set();
  const refused = [];
  const socket = dgram.createSocket('udp4');
  t.after(() => socket.close());
  socket.on('message', (message, from) => {
    if (message.length < 20) return;
    const reply = (type, body) => {
      const answer = Buffer.from(message.subarray(0, 20));
      answer.writeUInt16BE(type, 0);
      answer.writeUInt16BE(body.length, 2);
      socket.send(Buffer.concat([answer, body]), from.port, from.address);
    };
    if (message.readUInt16BE(0) === request.binding) {
      const mapped = Buffer.from([0, 1, 0, 0, ...from.address.split('.').map(Number)]);
      mapped.writeUInt16BE(from.port ^ 0x2112, 2);
      for (let i = 0; i < 4; ++i) mapped[4 + i] ^= message[4 + i];
      return reply(0x0101, encode(attribute.mapped, mapped));
    }
    if (message.readUInt16BE(0) !== request.allocate) return;
    const found = attributes(message);
    const integrity = found.get(attribute.integrity);
    if (integrity) {
      const username = found.get(attribute.username).value.toString();
      if (signed(message, integrity, username)) proven.add(username);
      else refused.push(username);
    }
    const body = Buffer.concat([
      encode(attribute.error, Buffer.from([0, 0, 4, integrity ? 86 : 1, ...Buffer.from(integrity ? 'Allocation Quota Reached' : 'Unauthorized')])),
      encode(attribute.realm, Buffer.from(realm)),
      encode(attribute.nonce, Buffer.from('once')),
    ]);
    reply(0x0113, body);
  });
  // The server has a non-loopback address if the machine has one, because a browser then looks for
  // no relays on loopback.
  const address = Object.values(os.networkInterfaces()).flat().find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
  await new Promise((resolve) => socket.bind(0, address, resolve));
  return { address, port: socket.address().port, proven, refused };
}

const python = '/usr/bin/python3';
const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const hexOf = (key) => [...key].reduce((number, digit) => number * 58n + BigInt(digits.indexOf(digit)), 0n).toString(16).padStart(64, '0');

/** Gives workers the standing of long work, in the stored state of a coordinator that has ended. */
function establish(data, keys) {
  const script = `
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
for key in sys.argv[3:]:
    store.execute('INSERT OR REPLACE INTO standings (worker, verified, updated, wrong, suspended_until) VALUES (?, 1000, ?, 0, 0)', (bytes.fromhex(key), int(sys.argv[2])))
store.commit()
store.close()`;
  const { status, stderr } = spawnSync(python, ['-c', script, path.join(data, 'weft.db'), `${Date.now()}`, ...keys.map(hexOf)], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

test('established tabs ask the TURN server that the coordinator names, as themselves, and strangers are told of none; a tab that its visitor keeps to relays opens no direct line', { timeout: 300_000, skip: !fs.existsSync(python) && 'SKIPPED: python3 is not installed (scripts/setup --dev)' }, async (t) => {
  const turn = await turnServer(t);
  const args = ['--ice-servers', JSON.stringify([{ urls: `turn:${turn.address}:${turn.port}?transport=udp`, secret, hours: 2 }])];
  const { url, data, program } = await serve(t, { args });
  const flags = [...chromiumFlags.filter((flag) => !/webgpu/.test(flag)), '--disable-features=WebGPU,WebGPUService', '--disable-dev-shm-usage'];
  const browser = await loadPlaywright().chromium.launch({ executablePath: findChromium(), headless: true, args: flags });
  t.after(() => browser.close());
  const keys = [];
  for (let i = 0; i < 2; ++i) {
    const context = await browser.newContext();
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    page.on('console', (message) => { if (message.type() === 'error') t.diagnostic(`tab ${i}: ${message.text()}`); });
    // Tabs on one machine find each other before they ask for a relay. With this setting they use
    // only relays.
    await page.goto(url);
    await page.getByRole('checkbox', { name: /^Reach other members only through relays/ }).check();
    await contribute(page, url);
    keys.push(await page.locator('[data-testid="address"]').getAttribute('data-address'));
  }
  await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 2, 'both tabs serve');
  const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
  const wallet = path.join(scratch(t), 'client.json');
  const added = await run(['model', 'add', model, '--name', 'tiny', '--shards', '2', '--coordinator', url, '--wallet', wallet, '--wait'], { seconds: 200 });
  assert.equal(added.code, 0, added.stderr);
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const relayed = async () => {
    const answer = await openai.completions.create({ model: 'tiny', prompt: 'KING RICHARD III:\nNow is', max_tokens: 8, temperature: 0 });
    assert.equal(answer.weft.transport, 'relay', 'no direct line opens, and the coordinator relays');
  };
  await relayed();
  assert.deepEqual([turn.proven.size, turn.refused.length], [0, 0], 'strangers are told of no TURN server');

  await program.stop();
  establish(data, keys);
  await serve(t, { args, data, listen: new URL(url).host });
  await until(async () => (await getJson(`${url}/v1/models`)).data[0]?.weft.state === 'ready', 'the tabs are back and hold the model', 120);
  await relayed();
  await until(() => turn.proven.size === 2, 'both tabs asked the TURN server', 60);
  assert.deepEqual(turn.refused, []);
  const now = Date.now() / 1000;
  for (const username of turn.proven) {
    const [expiry, key] = username.split(':');
    assert.ok(keys.includes(key), `${username} is a worker`);
    assert.ok(Number(expiry) > now + 3600 && Number(expiry) < now + 2 * 3600 + 60);
  }
});
