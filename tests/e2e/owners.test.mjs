// One owner with several devices, payments between owners, and statements, with the real program and a real coordinator.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { run, scratch, serve } from './lib.mjs';

async function ok(args) {
  const { code, stdout, stderr } = await run(args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}
async function refused(args, message) {
  const { code, stderr } = await run(args);
  assert.notEqual(code, 0, args.join(' '));
  assert.match(stderr, message);
}

/** Starts a coordinator, and makes wallets by name that act at it. */
async function network(t) {
  const { url, data } = await serve(t);
  const folder = scratch(t);
  const file = (name) => path.join(folder, `${name}.json`);
  const at = (name) => ['--wallet', file(name), '--coordinator', url];
  const wallet = async (name) => JSON.parse(await ok(['wallet', 'new', '--file', file(name), '--json'])).key;
  const issue = (key, credits) => ok(['pay', key, String(credits), '--issue', '--data', data, '--coordinator', url, '--json']);
  const owner = async (name) => JSON.parse(await ok(['device', 'list', ...at(name), '--json']));
  return { url, data, at, wallet, issue, owner };
}

test('free credits are paid to another owner, granted ones are not, and only the operator makes new ones', { timeout: 120_000 }, async (t) => {
  const { url, data, at, wallet, issue, owner } = await network(t);
  const alice = await wallet('alice');
  const bob = await wallet('bob');
  // This command grants the wallet the credits of a new client.
  await ok(['key', 'add', 'any', ...at('alice')]);
  const granted = (await owner('alice')).granted;
  assert.ok(granted > 0);
  await refused(['pay', bob, '1', ...at('alice')], /granted credits cannot be transferred/);
  await refused(['pay', alice, '5', '--issue', ...at('alice')], /--issue and --data go together/);
  await refused(['pay', 'no-key', '1', ...at('alice')], /not the key of an owner/);

  await issue(alice, 10);
  const after = JSON.parse(await ok(['pay', bob, '2.5', ...at('alice'), '--json']));
  assert.equal(after.free, 7_500_000);
  assert.equal(after.granted, granted);
  assert.equal((await owner('bob')).free, 2_500_000);
  await refused(['pay', bob, '7.6', ...at('alice')], /The balance is 7\.500000 credits/);
  assert.match(await ok(['wallet', 'show', '--file', at('bob')[1], '--coordinator', url]), /free +2\.500000 credits/);

  const csv = (await ok(['wallet', 'statement', '--csv', ...at('alice')])).split('\r\n');
  assert.equal(csv[0], 'time,account,amount,balance,what,job,transaction');
  assert.ok(csv.some((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,granted,\d+\.000000,\d+\.000000,"grants /.test(line)), csv.join('\n'));
  assert.ok(csv.some((line) => /,free,-2\.500000,7\.500000,".* pays 2\.500000 credits to /.test(line)), csv.join('\n'));
  const { owner: holder, lines } = JSON.parse(await ok(['wallet', 'statement', ...at('alice'), '--json']));
  assert.equal(holder, alice);
  assert.equal(lines.filter(({ account }) => account === 'free').reduce((sum, { amount }) => sum + amount, 0), 7_500_000);
  assert.equal(JSON.parse(await ok(['ledger', '--coordinator', url, '--json'])).sum, 0);
  assert.ok(data);
});

test('a phone joins with its own consent, spends the one balance, and is revoked', { timeout: 120_000 }, async (t) => {
  const { at, wallet, issue, owner } = await network(t);
  const laptop = await wallet('laptop');
  const phone = await wallet('phone');
  const bob = await wallet('bob');
  await issue(laptop, 10);
  const { code } = JSON.parse(await ok(['device', 'request', laptop, ...at('phone'), '--json']));

  // The device agreed to this owner and this role, and to no other.
  await issue(bob, 1);
  await refused(['device', 'add', code, ...at('bob')], /has not agreed/);
  await refused(['device', 'add', code.replace('full.', 'recovery.'), ...at('laptop')], /has not agreed/);
  await refused(['device', 'add', 'nonsense', ...at('laptop')], /is no code/);
  await ok(['device', 'add', code, '--name', 'phone', ...at('laptop')]);

  const seen = await owner('phone');
  assert.equal(seen.owner, laptop);
  assert.equal(seen.free, 10_000_000);
  assert.deepEqual(seen.devices.map(({ key, name }) => [key, name]), [[laptop, ''], [phone, 'phone']]);
  await ok(['pay', bob, '1', ...at('phone')]);
  assert.equal((await owner('laptop')).free, 9_000_000);

  await ok(['device', 'revoke', phone, ...at('laptop')]);
  await refused(['pay', bob, '1', ...at('phone')], /is revoked/);
  await refused(['device', 'list', ...at('phone')], /is revoked/);
  await refused(['device', 'revoke', laptop, ...at('laptop')], /is the last device/);
  await refused(['device', 'add', code, ...at('laptop')], /a revoked device/);
  assert.match(await ok(['device', 'list', ...at('laptop')]), /revoked +phone/);
});
