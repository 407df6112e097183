// The example of an agent, started as its README says: it calls its tools with valid arguments, and
// ends with an answer.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run as call, tools } from '../../examples/agent/tools.mjs';
import { Program, root, run, scratch, serve, work } from './lib.mjs';

test('the tools say what they find, and what is wrong', () => {
  assert.equal(call('calculate', '{"operation":"add","a":12,"b":30}'), '{"value":42}');
  assert.equal(call('calculate', '{"operation":"divide","a":1,"b":0}'), '{"error":"Nothing is divided by zero."}');
  assert.equal(call('weekday', '{"year":2026,"month":11,"day":22}'), '{"weekday":"Sunday"}');
  assert.equal(call('weekday', '{"year":2026,"month":2,"day":30}'), '{"error":"Month 2 has no day 30."}');
  assert.ok(JSON.parse(call('examples', '{}')).jobs.includes('mandelbrot'));
  assert.match(call('none', '{}'), /There is no tool none/);
  assert.match(call('calculate', '{'), /"error"/);
});

test('the agent asks where weft serve listens if it is told no URL, and so do the commands of its README', async () => {
  const { stdout } = await run(['serve', '--help']);
  const [, listens] = /--listen TEXT \[([^\]]+)\]/.exec(stdout);
  const read = (file) => fs.readFileSync(path.join(root, 'examples/agent', file), 'utf8');

  assert.deepEqual([...new Set(read('agent.mjs').match(/http:\/\/[0-9.:]+/g))], [`http://${listens}`]);
  const commands = read('README.md').match(/^ {4}\.\/weft (?:work|model) .*$/gm);
  assert.equal(commands.length, 2);
  for (const command of commands) assert.ok(command.includes(`--coordinator http://${listens}`), command);
});

test('an agent calls its tools and answers', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  process.env.XDG_CACHE_HOME = scratch(t);
  await work(t, url, { args: ['--device', 'cpu'] });
  const file = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
  const added = await run(['model', 'add', file, '--name', 'tiny', '--coordinator', url, '--wallet', path.join(scratch(t), 'client.json'), '--wait']);
  assert.equal(added.code, 0, added.stderr);

  const agent = new Program(t, process.execPath, [path.join(root, 'examples/agent/agent.mjs'), '--url', url, '--model', 'tiny', '--must-call', '2', '--turns', '4', '--max-tokens', '120', '--seed', '5', 'What is 12 + 30?']);
  const { code } = await agent.ended;

  assert.equal(code, 0, agent.stderr);
  const lines = agent.stdout.trim().split('\n');
  const calls = lines.filter((line) => line.startsWith('call: '));
  assert.ok(calls.length >= 2, agent.stdout);
  for (const line of calls) {
    const [, name, given, result] = /^call: (\w+)\((.*)\) -> (.*)$/.exec(line);
    assert.equal(call(name, given), result);
    for (const key of tools[name].parameters.required ?? []) assert.ok(key in JSON.parse(given), line);
  }
  assert.match(agent.stdout, /^answer: /m);
});
