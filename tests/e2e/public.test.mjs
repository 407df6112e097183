// `weft serve --public` behind a proxy: the coordinator counts as public although it listens on
// loopback. A real nginx (if it is installed) with the settings of docs/public.md passes a worker,
// a signed job and its outputs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { hashJob, writeJob } from './jobs.mjs';
import { root, run, scratch, serve, until, work } from './lib.mjs';

const args = ['--public', '--host', 'weft.example', '--host', 'localhost', '--trusted-proxy', '127.0.0.1'];

/** The answer to a request that looks as if a proxy passed it on. */
function asked(url, { host = 'weft.example', from = '203.0.113.9', method = 'GET', body = '' }) {
  return new Promise((resolve, reject) => {
    const headers = { host, 'x-forwarded-for': from, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = http.request(url, { method, headers }, (answer) => {
      let text = '';
      answer.on('data', (part) => { text += part; });
      answer.on('end', () => resolve({ status: answer.statusCode, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

test('behind a proxy strangers need keys for models, and other names are refused', async (t) => {
  const question = JSON.stringify({ model: 'none', messages: [{ role: 'user', content: 'Hello.' }] });
  const complete = (url) => asked(`${url}/v1/chat/completions`, { method: 'POST', body: question });
  const { url } = await serve(t, { args });
  assert.equal((await complete(url)).status, 401);
  assert.equal((await asked(`${url}/v1/models`, { host: 'other.example' })).status, 421);
  // --trusted-proxy alone makes the coordinator public.
  const proxied = await serve(t, { args: args.slice(1) });
  assert.equal((await complete(proxied.url)).status, 401);
  // A coordinator without a proxy, which only this machine reaches, needs no key.
  const own = await serve(t, { args: ['--host', 'weft.example'] });
  assert.equal((await complete(own.url)).status, 404);
});

test('behind a proxy no job leaves its results to any workers', async (t) => {
  const { url } = await serve(t, { args });
  const folder = scratch(t);
  const job = hashJob();
  const manifest = writeJob(folder, { ...job, verify: { ...job.verify, trust: 'anyone' } });
  const { code, stderr } = await run(['submit', manifest, '--coordinator', url, '--wallet', path.join(folder, 'client.json')]);
  assert.notEqual(code, 0);
  assert.match(stderr, /--allow-anyone/);
});

test('--public that lacks something ends with one sentence', async () => {
  const { code, stderr } = await run(['serve', '--public', '--trusted-proxy', '127.0.0.1']);
  assert.equal(code, 2);
  assert.equal(stderr.trim(), 'weft serve: --public needs the name by which others ask: --host weft.example.');
});

async function invitation({ data }, kind) {
  const { code, stdout, stderr } = await run(['invite', kind, '--data', data]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

const nginx = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((file) => fs.existsSync(file));

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts nginx with the server of docs/public.md, on loopback and with a certificate of the test. */
async function proxy(t, upstream) {
  const folder = scratch(t);
  const file = (name) => path.join(folder, name);
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost', '-keyout', file('key.pem'), '-out', file('cert.pem')], { stdio: 'ignore' });
  const port = await freePort();
  const text = fs.readFileSync(path.join(root, 'docs/public.md'), 'utf8');
  const written = text.slice(text.indexOf('    map $http_upgrade'), text.indexOf('## Caddy'))
    .replace(/listen \[::\]:443 ssl;/, '')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('server_name weft.example', 'server_name localhost')
    .replace(/\/etc\/letsencrypt\/live\/weft\.example\/fullchain\.pem/, file('cert.pem'))
    .replace(/\/etc\/letsencrypt\/live\/weft\.example\/privkey\.pem/, file('key.pem'))
    .replace('http://127.0.0.1:7300', upstream)
    // Signatures cover the port, which is not 443 here.
    .replace('proxy_set_header Host $host;', 'proxy_set_header Host $http_host;');
  assert.ok(written.includes(upstream) && written.includes(`127.0.0.1:${port}`) && written.includes(file('key.pem')));
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${file(name)};`).join('\n');
  fs.writeFileSync(file('nginx.conf'), `pid ${file('pid')};\nerror_log ${file('error.log')};\ndaemon off;\nmaster_process off;\n`
    + `events {}\nhttp {\naccess_log off;\n${folders}\n${written}\n}\n`);
  const program = spawn(nginx, ['-p', folder, '-e', file('error.log'), '-c', file('nginx.conf')], { stdio: 'inherit' });
  t.after(() => program.kill('SIGKILL'));
  await until(() => new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => { socket.destroy(); resolve(true); });
    socket.once('error', () => resolve(false));
  }), 'nginx listens');
  return { url: `https://localhost:${port}`, certificate: file('cert.pem') };
}

test('a worker and a client come through nginx as docs/public.md sets it up', { skip: nginx ? false : 'nginx is not installed' }, async (t) => {
  const coordinator = await serve(t, { args });
  const { url, certificate } = await proxy(t, coordinator.url);
  const at = ['--coordinator', url, '--ca-cert', certificate];
  const folder = scratch(t);
  const wallet = ['--wallet', path.join(folder, 'client.json')];
  const job = writeJob(folder, hashJob());
  await work(t, url, { args: ['--ca-cert', certificate, '--invite', await invitation(coordinator, '--worker')] });
  const redeemed = await run(['wallet', 'redeem', await invitation(coordinator, '--client'), ...wallet, ...at]);
  assert.equal(redeemed.code, 0, redeemed.stderr);
  const submitted = await run(['submit', job, ...wallet, ...at, '--out', path.join(folder, 'out'), '--json']);
  assert.equal(submitted.code, 0, submitted.stderr);
  assert.equal(JSON.parse(submitted.stdout).state, 'done');
  assert.ok(fs.readdirSync(path.join(folder, 'out')).length > 0);
});
