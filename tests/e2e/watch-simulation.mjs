// A server that simulates a large network. It passes every request through to a real coordinator
// except /v1/watch, which it answers with real messages (src/common/protocol/watch.h) about workers
// and tasks that do not exist. It writes the WebSocket's text frames itself, because it needs no
// other frames. Equal seeds give equal networks.
import crypto from 'node:crypto';
import http from 'node:http';

const letters = 'wlcar';
const unseenMax = 4;

/** Marsaglia's xorshift32: numbers from 0 to 1. */
function random(seed) {
  let word = seed >>> 0 || 1;
  return () => {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    return (word >>> 0) / 2 ** 32;
  };
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const adapters = ['NVIDIA GeForce RTX 4070', 'Apple M3', 'AMD Radeon RX 7800 XT', 'Intel Arc A770', 'Qualcomm Adreno 750', 'NVIDIA H200'];

/** The simulated network. advance() moves it by a quarter of a second and returns the delta; snapshot() returns all of it. */
export class SimulatedNetwork {
  constructor({ workers = 5000, tasks = 100_000, jobs = 8, movesPerStep = 1500, seed = 1 } = {}) {
    this.random = random(seed);
    this.sequence = 1;
    this.start = Date.now();
    this.movesPerStep = movesPerStep;
    this.workers = new Map();
    this.nextNumber = 1;
    for (let i = 0; i < workers; i += 1) this.#join();
    this.jobs = [];
    // The newest job is the largest, with `tasks` tasks.
    for (let i = 0; i < jobs; i += 1) this.jobs.push(this.#job(i, Math.round(tasks / 2 ** (jobs - 1 - i))));
    this.rows = [];
    for (let second = 300; second > 0; second -= 1) this.rows.push(this.#row(this.start - second * 1000));
  }

  #text(length) {
    return Array.from({ length }, () => alphabet[Math.floor(this.random() * alphabet.length)]).join('');
  }
  #job(i, tasks) {
    const map = new Uint8Array(tasks);
    const woven = Math.floor(tasks * (i === 0 ? 1 : 0.25 + 0.4 * this.random()));
    map.fill(3, 0, woven);
    const counts = [tasks - woven, 0, 0, woven, 0];
    const id = Array.from({ length: 32 }, () => Math.floor(this.random() * 16).toString(16)).join('');
    const price = Math.round(tasks * 40_000 * (1 + this.random()));
    return { id, created: this.start - (8 - i) * 60_000, tasks, map, counts, price, next: woven, open: [], changed: new Set(), refusals: 0 };
  }
  #join() {
    const number = this.nextNumber;
    this.nextNumber += 1;
    const far = this.random();
    const worker = {
      number, key: this.#text(44), kind: this.random() < 0.7 ? 'browser' : 'native', device: 'gpu',
      description: adapters[Math.floor(this.random() * adapters.length)],
      slots: 1 + Math.floor(this.random() * 8), held: 0, accepted: Math.floor(this.random() * 2000), refused: this.random() < 0.02 ? 3 : 0,
      rate: 0.1 + this.random() * 20, roundTrip: 0.4 * 10 ** (far * 2.8),
    };
    worker.held = Math.floor(this.random() * (worker.slots + 1));
    this.workers.set(number, worker);
    return worker;
  }
  #row(time) {
    const wave = 1 + 0.35 * Math.sin(time / 21_000) + 0.15 * Math.sin(time / 5_000);
    return {
      time: Math.floor(time / 1000) * 1000, accepted: Math.round(1400 * wave * (0.9 + 0.2 * this.random())), refused: this.random() < 0.1 ? 2 : 0, paid: 5_000_000,
      latency: 180 / wave * (0.9 + 0.2 * this.random()), high: 420 / wave * (0.85 + 0.3 * this.random()), workers: this.workers?.size ?? 0, open: 50_000,
      perUnit: Math.round(1_400_000 + 250_000 * wave),
    };
  }

  #set(job, task, state) {
    job.counts[job.map[task]] -= 1;
    job.counts[state] += 1;
    job.map[task] = state;
    job.changed.add(task);
  }
  #weave() {
    for (let move = 0; move < this.movesPerStep; move += 1) {
      const job = this.jobs[1 + Math.floor(this.random() * (this.jobs.length - 1))];
      // The number of tasks that are leased or checked at a time.
      const enough = Math.ceil(0.05 * job.tasks);
      if (job.open.length > 0 && (job.open.length >= enough || this.random() < 0.3)) {
        const at = Math.floor(this.random() * job.open.length);
        const task = job.open[at];
        const state = job.map[task];
        if (state === 1) this.#set(job, task, this.random() < 0.01 ? 4 : 2);
        else if (state === 4) this.#set(job, task, 1);
        else {
          this.#set(job, task, 3);
          job.open[at] = job.open[job.open.length - 1];
          job.open.pop();
        }
      } else if (job.next < job.tasks) {
        this.#set(job, job.next, 1);
        job.open.push(job.next);
        job.next += 1;
      } else if (job.open.length === 0) {
        job.map.fill(0);  // The job begins again, so that a test may run as long as it needs.
        job.counts = [job.tasks, 0, 0, 0, 0];
        for (let task = 0; task < job.tasks; task += 1) job.changed.add(task);
        job.next = 0;
      }
    }
  }

  #head(job, map) {
    const done = job.counts[3] === job.tasks;
    return {
      id: job.id, state: done ? 'done' : 'running', tasks: job.tasks, replicas: 2, counts: [...job.counts],
      refusals: job.refusals, price: job.price,
      units: job.price / 1.5e6, created: job.created, ended: done ? this.start : 0, mapped: true, map,
    };
  }
  #packed(job) {
    const bytes = Buffer.alloc((job.tasks + 1) >> 1);
    for (let i = 0; i < job.tasks; i += 1) bytes[i >> 1] |= job.map[i] << ((i & 1) * 4);
    return { first: [], count: [], state: '', packed: bytes.toString('base64') };
  }
  #runs(job) {
    const map = { first: [], count: [], state: '', packed: '' };
    for (const task of [...job.changed].sort((a, b) => a - b)) {
      const last = map.first.length - 1;
      const letter = letters[job.map[task]];
      if (last >= 0 && map.first[last] + map.count[last] === task && map.state[last] === letter) map.count[last] += 1;
      else {
        map.first.push(task);
        map.count.push(1);
        map.state += letter;
      }
    }
    return 12 * map.first.length > job.tasks * 0.7 ? this.#packed(job) : map;
  }
  static #loads(workers) {
    const column = (of) => workers.map(of);
    return {
      number: column((one) => one.number), held: column((one) => one.held), slots: column((one) => one.slots), accepted: column((one) => one.accepted),
      refused: column((one) => one.refused), rate: column((one) => one.rate), round_trip_ms: column((one) => one.roundTrip),
    };
  }
  static #history(rows) {
    const column = (of) => rows.map(of);
    return {
      time: column((row) => row.time), accepted: column((row) => row.accepted), refused: column((row) => row.refused), paid: column((row) => row.paid),
      latency_ms: column((row) => row.latency), latency_high_ms: column((row) => row.high), workers: column((row) => row.workers), open: column((row) => row.open),
      per_unit: column((row) => row.perUnit),
    };
  }
  static #introduce = ({ number, key, kind, device, description }) => ({ number, key, kind, device, description, f32_gflop_per_s: 1000, since: 0 });

  snapshot() {
    const workers = [...this.workers.values()];
    return {
      type: 'snapshot', sequence: this.sequence, time: Date.now(), jobs_running: this.jobs.length - 1, jobs: this.jobs.map((job) => this.#head(job, this.#packed(job))),
      workers: workers.map(SimulatedNetwork.#introduce), loads: SimulatedNetwork.#loads(workers), history: SimulatedNetwork.#history(this.rows),
    };
  }

  advance() {
    this.#weave();
    const moved = new Set();
    const all = [...this.workers.values()];
    for (let i = 0; i < all.length / 5; i += 1) {
      const worker = all[Math.floor(this.random() * all.length)];
      worker.held = Math.floor(this.random() * (worker.slots + 1));
      worker.accepted += 1;
      moved.add(worker);
    }
    // A few workers leave and join.
    const left = [];
    for (let i = 0; i < 2; i += 1) {
      const gone = all[Math.floor(this.random() * all.length)];
      if (!this.workers.delete(gone.number)) continue;
      moved.delete(gone);
      left.push(gone.number);
    }
    const joined = left.map(() => this.#join());
    const rows = [];
    const now = Date.now();
    if (now - this.rows[this.rows.length - 1].time >= 2000) {
      rows.push(this.#row(now - 1000));
      this.rows = [...this.rows, ...rows].slice(-600);
    }
    const jobs = this.jobs.filter((job) => job.changed.size > 0).map((job) => this.#head(job, this.#runs(job)));
    for (const job of this.jobs) job.changed.clear();
    this.sequence += 1;
    return {
      type: 'delta', sequence: this.sequence, time: now, jobs_running: this.jobs.length - 1, jobs, jobs_gone: [], joined: joined.map(SimulatedNetwork.#introduce), left,
      loads: SimulatedNetwork.#loads([...moved, ...joined]), history: SimulatedNetwork.#history(rows),
    };
  }
}

function frame(text) {
  const payload = Buffer.from(text);
  const long = payload.length > 0xffff;
  if (payload.length < 126) throw new Error('Every message here is longer.');
  const head = Buffer.alloc(long ? 10 : 4);
  head[0] = 0x81;
  head[1] = long ? 127 : 126;
  if (long) head.writeBigUInt64BE(BigInt(payload.length), 2);
  else head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

/** Reads the whole short masked text frames in the received bytes; a watcher sends no other frames. */
function* texts(state, data) {
  state.rest = Buffer.concat([state.rest, data]);
  while (state.rest.length >= 6) {
    const length = state.rest[1] & 127;
    if (length > 125) throw new Error('A watcher sends short messages only.');
    if (state.rest.length < 6 + length) return;
    const mask = state.rest.subarray(2, 6);
    const text = Buffer.from(state.rest.subarray(6, 6 + length).map((byte, i) => byte ^ mask[i % 4]));
    const opcode = state.rest[0] & 15;
    state.rest = state.rest.subarray(6 + length);
    if (opcode === 1) yield text.toString();
  }
}

/** Serves `network` at /v1/watch and everything else from `url`: { url, told }; `told` has what was sent and seen. */
export async function simulateWatch(t, url, network, everyMs = 250) {
  const told = { messages: 0, bytes: 0, seen: 0, skipped: 0 };
  const server = http.createServer((request, response) => {
    const passed = http.request(new URL(request.url, url), { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  const watchers = new Set();
  server.on('upgrade', (request, socket) => {
    const key = request.headers['sec-websocket-key'];
    const accept = crypto.createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    const watcher = { socket, unseen: 0, wantsSnapshot: true, rest: Buffer.alloc(0) };
    watchers.add(watcher);
    socket.on('data', (data) => {
      for (const text of texts(watcher, data)) {
        if (JSON.parse(text).type !== 'seen') throw new Error('A watcher says what it has seen.');
        watcher.unseen -= 1;
        told.seen += 1;
      }
    });
    socket.on('close', () => watchers.delete(watcher));
    socket.on('error', () => watchers.delete(watcher));
  });
  const timer = setInterval(() => {
    if (watchers.size === 0) return;
    const delta = frame(JSON.stringify(network.advance()));
    for (const watcher of watchers) {
      if (watcher.unseen >= unseenMax) {
        watcher.wantsSnapshot = true;
        told.skipped += 1;
        continue;
      }
      const message = watcher.wantsSnapshot ? frame(JSON.stringify(network.snapshot())) : delta;
      watcher.wantsSnapshot = false;
      watcher.unseen += 1;
      watcher.socket.write(message);
      told.messages += 1;
      told.bytes += message.length;
    }
  }, everyMs);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    clearInterval(timer);
    for (const watcher of watchers) watcher.socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, told };
}

