#!/usr/bin/env node
// Removes every numbered check of the program, one at a time, and plays the check's attack against
// the rest in the virtual machine: node chain/tests/mutants.mjs [--only NAME] [--from-source]. A
// line for each check says what the attack achieved. If the attack is refused in the same way as by
// the whole program, the mutant lives and the run fails. All mutants are one build, in which the
// number of the removed check is written into the linked bytes; with --from-source each is a
// separate build.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import * as layout from '../layout.mjs';
import { build } from '../build.mjs';
import { allAttacks } from './attacks.mjs';
import { instruction } from './program.mjs';
import { keyOf } from './wire.mjs';
import { liveWorld, programId } from './world.mjs';

const nameOf = (error) => (error.code === undefined ? error.name : layout.numbered().get(error.code)?.name ?? `error ${error.code} of another program`);

// Makes the program without a given check, from one build for all checks.
function patchedBuild() {
  const { program } = build(['WEFT_PATCHED_CHECK']), mark = Buffer.from('wftcheck'), at = program.indexOf(mark);
  if (at < 0 || program.indexOf(mark, at + 1) >= 0) throw new Error('the program has not one place for the number of the removed check');
  return (number) => { const out = Buffer.from(program); out.writeBigUInt64LE(BigInt(number), at); return out; };
}

function work({ numbers, fromSource }) {
  const { program } = build();
  const without = fromSource ? (number) => build([`WEFT_REMOVED_CHECK=${number}`]).program : patchedBuild();
  const world = liveWorld(program);
  const attacks = allAttacks();
  for (const number of numbers) {
    const { name, attack, prepare } = attacks.get(number);
    const one = prepare(world);
    const sent = [[...one.before, instruction(programId, one.call)], [...new Set(one.signers)].map((signer) => keyOf(signer))];
    const whole = world.vm.attempt(...sent);
    world.vm.addProgram(programId, without(number));
    const mutant = world.vm.attempt(...sent);
    world.vm.addProgram(programId, program);
    const lives = whole.ok || whole.error.code !== number || (!mutant.ok && mutant.error.code === number);
    parentPort.postMessage({ number, name, attack, lives, outcome: whole.ok ? 'the whole program lets it through' : mutant.ok ? 'went through' : `is stopped elsewhere only (${nameOf(mutant.error)})`, through: mutant.ok });
  }
}

if (!isMainThread) work(workerData);
else {
  const only = process.argv.indexOf('--only');
  const numbers = [...layout.numbered()].filter(([, { name }]) => only < 0 || name === process.argv[only + 1]).map(([number]) => number);
  if (numbers.length === 0) { console.error(`There is no check named ${process.argv[only + 1]}; chain/LAYOUT.md lists them.`); process.exit(2); }
  const began = performance.now();
  const threads = Math.min(availableParallelism(), numbers.length);
  const results = [];
  await Promise.all(Array.from({ length: threads }, (_, t) => new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { numbers: numbers.filter((_, i) => i % threads === t), fromSource: process.argv.includes('--from-source') } });
    worker.on('message', (result) => { results.push(result); console.log(`${result.lives ? 'LIVES ' : 'killed'} ${result.number} ${result.name}: ${result.attack}: ${result.outcome}`); });
    worker.on('error', reject);
    worker.on('exit', resolve);
  })));
  const living = results.filter(({ lives }) => lives).length + numbers.length - results.length;
  console.log(`${numbers.length} mutants, ${results.length - living} killed (${results.filter(({ through }) => through).length} by an attack that went through), ${living} live; ${((performance.now() - began) / 1000).toFixed(0)} s`);
  process.exitCode = living ? 1 : 0;
}
