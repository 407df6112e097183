// An owner gets all data that a real coordinator holds of the owner, and deletes them. Money and
// its evidence stay, and so do the data of other owners.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { run, scratch, serve, work } from './lib.mjs';
import { matrixJob, writeJob } from './jobs.mjs';

test('all that is held of an owner is printed, and deleted when nothing of that owner is under way', { timeout: 240_000 }, async (t) => {
  const { url, data, program } = await serve(t);
  const folder = scratch(t);
  const at = (name) => ['--wallet', path.join(folder, `${name}.json`), '--coordinator', url];
  const ok = async (args) => {
    const { code, stdout, stderr } = await run(args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const held = async (name) => (await ok(['wallet', 'data', ...at(name)])).split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const of = (lines, what) => lines.filter((line) => line[what] !== undefined).map((line) => line[what]);
  const submit = async (name, job, more = []) => JSON.parse(await ok(['submit', writeJob(folder, job), ...at(name), '--json', ...more]));

  const worker = await work(t, url, { args: ['--device', 'cpu'] });
  const done = await submit('alice', matrixJob({ name: 'secret-name' }), ['--wait']);
  const other = await submit('bob', matrixJob({ name: 'bobs-name' }), ['--wait']);
  assert.equal(done.state, 'done');
  await ok(['key', 'add', 'laptop', ...at('alice')]);

  const all = await held('alice');
  assert.deepEqual(of(all, 'job').map(({ id, name }) => [id, name]), [[done.id, 'secret-name']]);
  assert.equal(of(all, 'manifest')[0].name, 'secret-name');
  assert.deepEqual(of(all, 'key').map(({ name }) => name), ['laptop']);
  assert.equal(of(all, 'owner').length, 1);
  assert.ok(of(all, 'history').flatMap(({ entries }) => entries).some(({ job }) => job === done.id));
  assert.ok(!JSON.stringify(all).includes('bobs-name'));

  // Without --yes no request is sent. While a job runs, no data are deleted.
  const asked = await run(['wallet', 'forget', ...at('alice')]);
  assert.notEqual(asked.code, 0);
  assert.match(asked.stderr, /This deletes permanently.*--yes/);
  await worker.stop();
  const waiting = await submit('alice', matrixJob({ name: 'waits' }));
  const refused = await run(['wallet', 'forget', '--yes', ...at('alice')]);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /Nothing was deleted: a job of this owner runs; wait for its end or cancel it, and ask again\./);
  assert.equal(of(await held('alice'), 'job').find(({ id }) => id === done.id).name, 'secret-name');
  await ok(['submit', '--cancel', waiting.id, ...at('alice')]);

  assert.match(await ok(['wallet', 'forget', '--yes', ...at('alice')]), /What stays: what was paid and earned/);
  const left = await held('alice');
  assert.ok(!/secret-name|laptop/.test(JSON.stringify(left)), JSON.stringify(left));
  assert.deepEqual(of(left, 'manifest'), []);
  assert.deepEqual(of(left, 'key'), []);
  const kept = of(left, 'job').find(({ id }) => id === done.id);
  assert.deepEqual([kept.state, kept.root, kept.outputs], ['done', done.root, []]);
  assert.deepEqual(of(left, 'history').flatMap(({ entries }) => entries).filter(({ job }) => job === done.id), of(all, 'history').flatMap(({ entries }) => entries).filter(({ job }) => job === done.id));
  assert.equal(of(await held('bob'), 'job').find(({ id }) => id === other.id).name, 'bobs-name', "another owner's stay");
  assert.equal(JSON.parse(await ok(['ledger', '--coordinator', url, '--json'])).sum, 0);

  // After a restart the deleted data are still missing on the disk.
  await program.stop();
  const again = await serve(t, { data });
  const later = await ok(['wallet', 'data', '--wallet', path.join(folder, 'alice.json'), '--coordinator', again.url]);
  assert.ok(!/secret-name|laptop/.test(later), later);
  assert.ok(later.includes(done.id));
});
