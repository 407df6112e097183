// A server of the package `weft-engine` and of model files, like a site that uses the package:
// ranges, entity tags, and on request a slow or a breaking connection. `requests` holds the
// requests that it got.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pause, root } from './lib.mjs';

const data = process.env.WEFT_DATA ?? path.resolve(root, '../shared');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const dist = path.join(root, 'web/packages/llm/dist');

const page = '<!doctype html><title>weft-engine</title><link rel="icon" href="data:," /><input type="file" id="file" />';
// The engine with a way to break it from outside, which the package does not know.
const breakable = `
const devices = [];
const request = globalThis.GPUAdapter?.prototype.requestDevice;
if (request) GPUAdapter.prototype.requestDevice = async function (...options) {
  const device = await request.apply(this, options);
  devices.push(device);
  return device;
};
new BroadcastChannel('weft-test').onmessage = ({ data }) => {
  if (data === 'lose') for (const device of devices) device.destroy();
  if (data === 'break') setTimeout(() => { throw new Error('A trap.'); });
};
export { default } from '/weft-engine/weft_llm.mjs';
`;

/** A model's file: of the repository if it has the file, else of WEFT_DATA; null if neither has it. */
export function modelFile(name) {
  const places = [path.join(root, 'tests/data/tiny', name), path.join(data, 'models', name)];
  return places.find((file) => fs.existsSync(file)) ?? null;
}

function drained(response) {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

export async function serveModels(t) {
  const requests = [];
  /** `breakAfter`: the bytes of a model's body after which the connection breaks. `bytesPerMs`: its speed. `down`: models cannot be fetched. */
  const line = { breakAfter: Infinity, bytesPerMs: Infinity, down: false };
  const files = new Map();

  const sendModel = async (request, response, name) => {
    if (line.down) return request.socket.destroy();
    const bytes = files.get(name) ?? (modelFile(name) === null ? null : fs.readFileSync(modelFile(name)));
    if (bytes === null) {
      response.statusCode = 404;
      return response.end();
    }
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.statusCode = from > 0 ? 206 : 200;
    if (from > 0) response.setHeader('content-range', `bytes ${from}-${bytes.length - 1}/${bytes.length}`);
    response.setHeader('content-length', bytes.length - from);
    response.setHeader('content-type', 'application/octet-stream');
    response.setHeader('etag', `"${name}-${bytes.length}"`);
    response.flushHeaders();
    const step = 256 << 10;
    for (let at = from; at < bytes.length && !response.destroyed; at += step) {
      if (at - from >= line.breakAfter) return request.socket.destroy();
      if (!response.write(bytes.subarray(at, at + step))) await drained(response);
      if (line.bytesPerMs !== Infinity) await pause(step / line.bytesPerMs);
    }
    return response.end();
  };

  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    requests.push({ path: pathname, range: request.headers.range ?? '' });
    response.setHeader('cache-control', 'no-store');
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('cross-origin-embedder-policy', 'require-corp');
    if (pathname.startsWith('/models/')) {
      // Pages of other sites may read the file, as on sites that publish models.
      response.setHeader('access-control-allow-origin', '*');
      void sendModel(request, response, pathname.slice('/models/'.length));
      return;
    }
    const text = { '/': [page, '.html'], '/breakable.mjs': [breakable, '.js'] }[pathname];
    const file = pathname.startsWith('/weft-engine/') ? path.join(dist, path.normalize(pathname.slice('/weft-engine/'.length))) : '';
    const found = text === undefined && file.startsWith(dist) && fs.existsSync(file);
    response.statusCode = text !== undefined || found ? 200 : 404;
    response.setHeader('content-type', types[text?.[1] ?? path.extname(file)] ?? 'application/octet-stream');
    response.end(text?.[0] ?? (found ? fs.readFileSync(file) : ''));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://localhost:${server.address().port}`, requests, line, files };
}
