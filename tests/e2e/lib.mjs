// What the end-to-end tests stand on: real processes of build/release/weft on loopback, ended for certain.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const weft = path.join(root, 'build/release/weft');
export const long = process.env.WEFT_LONG === '1';

/** A folder that lives as long as the test. */
export function scratch(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-test-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A running program; `lines` grows as it speaks. Killed with its whole group at the end of the test. */
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

  /** Resolves to the match of `pattern` in what it printed; rejects with its output when it ends or takes too long. */
  async says(pattern, seconds = 30) {
    const deadline = Date.now() + seconds * 1000;
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
  /** Asks it to end and waits. */
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

/** `weft serve` on a free port: { url, program, data }. */
export async function serve(t, { args = [], data = scratch(t), listen = '127.0.0.1:0', env = {} } = {}) {
  const program = new Program(t, weft, ['serve', '--listen', listen, '--data', data, ...args], { env });
  const [, url] = await program.says(/(https?:\/\/[^\s]+)/);
  return { url: url.replace(/\/$/, ''), program, data };
}

/** A native worker that has joined. */
export async function work(t, url, { args = [], wallet = path.join(scratch(t), 'wallet.json') } = {}) {
  const program = new Program(t, weft, ['work', '--coordinator', url, '--wallet', wallet, ...args]);
  await program.says(/joined/i, 60);
  return program;
}

/** A link of the page that brings a browser's wallet credits. */
export async function invited({ url, data }) {
  const { code, stdout, stderr } = await run(['invite', '--client', '--data', data]);
  if (code !== 0) throw new Error(stderr);
  return `${url}/#invite=${stdout.trim()}`;
}

export async function getJson(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Polls until `test` gives something truthy. */
export async function until(test, what, seconds = 60) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`It never came to this: ${what}`);
    await pause(30);
  }
}
