// Common code of the end-to-end tests: real processes of build/release/weft on loopback, which each
// test ends.
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const weft = path.join(root, 'build/release/weft');
export const long = process.env.WEFT_LONG === '1';

/** A folder that exists as long as the test. */
export function scratch(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-test-'));
  const remove = () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  // If a program that ends later still writes into this folder, the folder is removed at the end of
  // the process. An error here would skip the other cleanup after the test.
  t.after(() => { try { remove(); } catch { process.once('exit', remove); } });
  return folder;
}

/** The seconds to wait for an action that takes at most `seconds` on an idle machine, because other tests run at the same time. A value of less than half a minute is a claim of the test and is not raised. */
const patience = (seconds) => (seconds < 30 ? seconds : 3 * seconds);

/** A running program; `lines` grows as the program prints. The program and its process group are killed at the end of the test. */
export class Program {
  constructor(t, file, args, { env = {}, cwd } = {}) {
    this.name = `${path.basename(file)} ${args[0] ?? ''}`;
    this.lines = [];
    this.stdout = '';
    this.stderr = '';
    this.child = spawn(file, args, { env: { ...process.env, ...env }, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout.on('data', (data) => { this.stdout += data; });
    this.child.stderr.on('data', (data) => { this.stderr += data; });
    this.ended = new Promise((resolve) => {
      this.child.on('error', (error) => resolve({ code: -1, signal: null, error }));
      this.child.on('close', (code, signal) => resolve({ code, signal }));
    });
    t?.after(() => this.kill());
  }

  /** Resolves to the match of `pattern` in the program's output; rejects with the output if the program ends or takes too long. */
  async says(pattern, seconds = 30) {
    const deadline = Date.now() + patience(seconds) * 1000;
    let ended = null;
    this.ended.then((how) => { ended = how; });
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match) return match;
      if (ended || Date.now() > deadline) {
        throw new Error(`${this.name} ${ended ? `ended (${ended.code ?? ended.signal})` : 'went on'} without saying ${pattern}:\n${this.output()}`);
      }
      await pause(20);
    }
  }

  output() { return `${this.stdout}\n${this.stderr}`.slice(-4000); }
  signal(name) { try { process.kill(-this.child.pid, name); } catch { /* ended already */ } }
  async kill() { this.signal('SIGKILL'); return this.ended; }
  /** Asks the program to end, and waits for its end. */
  async stop() { try { this.child.kill('SIGTERM'); } catch { /* ended */ } return this.ended; }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs a command to its end: { code, stdout, stderr }. */
export async function run(args, options = {}) {
  const program = new Program(null, weft, args, options);
  const timer = setTimeout(() => program.signal('SIGKILL'), (options.seconds ?? 120) * 1000);
  const { code } = await program.ended;
  clearTimeout(timer);
  return { code, stdout: program.stdout, stderr: program.stderr };
}

/** Starts `weft serve` on a free port: { url, program, data }. */
export async function serve(t, { args = [], data = scratch(t), listen = '127.0.0.1:0', env = {} } = {}) {
  const program = new Program(t, weft, ['serve', '--listen', listen, '--data', data, ...args], { env });
  const [, url] = await program.says(/(https?:\/\/[^\s]+)/);
  operators.set(new URL(url).origin, path.join(data, 'coordinator.json'));
  return { url: url.replace(/\/$/, ''), program, data };
}

/** Starts a native worker and waits until it has joined. */
export async function work(t, url, { args = [], wallet = path.join(scratch(t), 'wallet.json') } = {}) {
  const program = new Program(t, weft, ['work', '--coordinator', url, '--wallet', wallet, ...args]);
  await program.says(/joined/i, 60);
  return program;
}

// The operator's wallet file, by the origin of a network that serve() began.
const operators = new Map();

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
export function toBase58(bytes) {
  let text = '';
  for (let number = BigInt(`0x${bytes.toString('hex')}`); number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text;
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = alphabet[0] + text;
  }
  return text;
}

const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const numbersOf = (wallet) => Buffer.from(JSON.parse(fs.readFileSync(wallet, 'utf8')));
const u32 = (number) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(number); return bytes; };
const u64 = (number) => { const bytes = Buffer.alloc(8); bytes.writeBigUInt64LE(BigInt(number)); return bytes; };
const text = (value) => [u32(Buffer.byteLength(value)), Buffer.from(value)];
const sha256 = (parts) => crypto.createHash('sha256').update(Buffer.concat(parts)).digest();

/** The headers by which a wallet signs a request (docs/http.md, "Signing"). `coordinator`: its wallet file. */
export function signed(url, { wallet, coordinator, method = 'GET', body = '' }) {
  const { pathname, searchParams } = new URL(url);
  const numbers = numbersOf(wallet);
  const nonce = crypto.randomBytes(16), time = Date.now();
  const query = [...searchParams].sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = sha256([Buffer.from('weft-request-2'), numbersOf(coordinator).subarray(32), ...text(method), ...text(decodeURIComponent(pathname)),
    u32(query.length), ...query.flatMap(([name, value]) => [...text(name), ...text(value)]), sha256([Buffer.from(body)]), u64(time), nonce]);
  const secret = crypto.createPrivateKey({ key: Buffer.concat([pkcs8, numbers.subarray(0, 32)]), format: 'der', type: 'pkcs8' });
  return { 'weft-client': toBase58(numbers.subarray(32)), 'weft-nonce': nonce.toString('hex'), 'weft-time': String(time), 'weft-signature': toBase58(crypto.sign(null, digest, secret)) };
}

/** Asks as the operator, which sees everything, if serve() began the network. */
export function read(url) {
  const wallet = operators.get(new URL(url).origin);
  return fetch(url, wallet ? { headers: signed(url, { wallet, coordinator: wallet }) } : {});
}

/** A link of the page that gives a browser's wallet credits. */
export async function invited({ url, data }) {
  const { code, stdout, stderr } = await run(['invite', '--client', '--data', data]);
  if (code !== 0) throw new Error(stderr);
  return `${url}/#invite=${stdout.trim()}`;
}

export async function getJson(url) {
  const answer = await read(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Polls until `test` returns a truthy value. */
export async function until(test, what, seconds = 60) {
  const deadline = Date.now() + patience(seconds) * 1000;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`It never came to this: ${what}`);
    await pause(30);
  }
}
