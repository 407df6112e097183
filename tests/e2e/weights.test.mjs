// The operator changes a client's share of the network while the coordinator runs, and the change
// is permanent.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { run, scratch, serve } from './lib.mjs';

const ok = async (args) => {
  const { code, stdout, stderr } = await run(args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
};

test('a weight is set with the operator\'s wallet, listed, and known after a restart', { timeout: 120_000 }, async (t) => {
  const first = await serve(t);
  const wallet = path.join(scratch(t), 'client.json');
  const { key: address } = JSON.parse(await ok(['wallet', 'new', '--file', wallet, '--json']));

  const refused = await run(['client', 'weight', address, '3', '--wallet', wallet, '--coordinator', first.url]);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /Only the operator/);
  const text = await ok(['client', 'weight', address, '3', '--data', first.data, '--coordinator', first.url]);
  assert.match(text, new RegExp(`${address} +3 +set`));
  await first.program.stop();

  const second = await serve(t, { data: first.data, args: ['--client-weight', `${address}=7`] });
  const { clients } = JSON.parse(await ok(['client', 'list', '--data', first.data, '--coordinator', second.url, '--json']));
  assert.deepEqual(clients.map(({ client, weight }) => [client, weight]), [[address, 3]], 'what was set later comes before the option');
});
