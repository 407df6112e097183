// `weft bench attacks`: attackers beside honest workers, with a real coordinator and its verifier
// process. The attackers use the simulator's strategies (decisions/trust/attacks). Without
// verification the same attackers succeed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, scratch } from './lib.mjs';

async function attacks(t, ...args) {
  const { code, stdout, stderr } = await run(['bench', 'attacks', '--tasks', '75', '--simulations', '5', '--json', ...args], { env: { TMPDIR: scratch(t) } });
  // Exit code 1: a price or an order differs, because there are too few tasks to show it.
  assert.ok(code === 0 || code === 1, stderr);
  return JSON.parse(stdout);
}

test('zeros, bought accounts and canary killers get nothing wrong accepted, convict no honest worker and end no job', { timeout: 180_000 }, async (t) => {
  const { rows } = await attacks(t, '--strategy', 'zeros,sale,canary-killers');

  assert.deepEqual(rows.map(({ name }) => name), ['zeros', 'sale', 'canary-killers']);
  for (const { name, real, simulated } of rows) {
    assert.equal(real.tasks, 75, name);
    assert.equal(real.undecided, 0, name);
    assert.equal(real.stays, 0, name);
    assert.equal(real.honest_convicted, 0, name);
    assert.equal(real.jobs_ended, 0, name);
    assert.equal(simulated.tasks, 75, name);
    assert.equal(simulated.wrong, 0, name);
  }
  const [zeros, sale, killers] = rows;
  assert.ok(zeros.real.cheats > 0 && sale.real.cheats > 0, 'wrong answers are handed in');
  assert.equal(killers.real.cheats, 0);
});

test('where clients ask for agreement alone, the same attackers are believed', { timeout: 120_000 }, async (t) => {
  const { rows: [sale], kept } = await attacks(t, '--strategy', 'sale', '--unverified');

  assert.ok(sale.real.stays > 0, JSON.stringify(sale.real));
  assert.equal(kept, true, 'nothing is promised of it');
});

test('a strategy that does not exist is refused by name', async (t) => {
  const { code, stderr } = await run(['bench', 'attacks', '--strategy', 'kindness'], { env: { TMPDIR: scratch(t) } });

  assert.notEqual(code, 0);
  assert.match(stderr, /There is no strategy 'kindness': weft simulate trust --list names them\./);
});
