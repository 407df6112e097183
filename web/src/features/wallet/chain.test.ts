// Compares the page's encoding of Solana's data with the plain encoding of the program's own tests (chain/tests). A difference would make a
// wallet sign something else, or make claims fail.
import { describe, expect, it } from 'vitest';
import * as programs from '../../../../chain/tests/program.mjs';
import { Tree } from '../../../../chain/tests/tree.mjs';
import * as wire from '../../../../chain/tests/wire.mjs';
import { base58 } from '../../engine/keptWallet';
import { programAddress, tokensOf } from './addresses';
import { fromBase58, text } from './bytes';
import { creditsText, parseCredits } from './credits';
import { proposalText, standing, type Proposal } from './proposals';
import { call, Network, refusalText, State } from './program';
import { parseRows, SumTree } from './sumTree';
import { messageOf, unsigned } from './transaction';

const keyOf = (name: string) => Uint8Array.from(wire.keyOf(name).key as Uint8Array);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const program = keyOf('program');
const mint = keyOf('mint');

describe('addresses', () => {
  it('are those that the program finds', async () => {
    for (let i = 0; i < 20; i += 1) {
      const seed = keyOf(`seed ${i}`);
      const should = wire.programAddress(['stake', seed], program);
      const found = await programAddress(program, text('stake'), seed);
      expect([hex(found.key), found.bump]).toEqual([hex(should.key), should.bump]);
    }
    const owner = keyOf('owner');
    expect(hex(await tokensOf(owner, mint))).toBe(hex(wire.programAddress([owner, wire.tokenProgram, mint], wire.associatedProgram).key));
    const config = wire.programAddress(['config', mint], program).key;
    const network = new Network({ program: base58(program), mint: base58(mint) });
    expect(hex(await network.stake(owner))).toBe(hex(wire.programAddress(['stake', config, owner], program).key));
    const page = Buffer.alloc(4);
    page.writeUInt32LE(7);
    expect(hex((await network.page(7)).key)).toBe(hex(wire.programAddress(['page', config, page], program).key));
  });
  it('are read and written in base58, and nothing else is read', () => {
    for (const name of ['a', 'b', 'c']) expect(hex(fromBase58(base58(keyOf(name))))).toBe(hex(keyOf(name)));
    for (const wrong of ['', '0', 'l', 'z'.repeat(45), 'z'.repeat(200)]) expect(() => fromBase58(wrong)).toThrow('is not a key');
  });
});

describe('transactions', () => {
  it('have the message that the tests of the program make', () => {
    const payer = wire.keyOf('payer');
    const keys = { owner: keyOf('payer'), config: keyOf('config'), stake: keyOf('stake'), from: keyOf('from'), stake_vault: keyOf('stake vault') };
    const mine = unsigned(keyOf('payer'), [call(program, 'stake', keys, { amount: 12_345n })], keyOf('blockhash'));
    const buffers = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, Buffer.from(key)]));
    const theirs = programs.call('stake', { ...buffers, token_program: wire.tokenProgram, system_program: wire.systemProgram }, { amount: 12_345n });
    const should = wire.transaction([programs.instruction(Buffer.from(program), theirs)], payer, [payer], Buffer.from(keyOf('blockhash')));
    expect(hex(messageOf(mine))).toBe(hex(messageOf(should)));
  });
  it('are refused where another key would have to sign', () => {
    expect(() => unsigned(keyOf('payer'), [call(program, 'unstake', { owner: keyOf('other'), config: keyOf('config'), stake: keyOf('stake') }, { amount: 1 })], keyOf('blockhash'))).toThrow('Only the wallet signs');
  });
  it('name the check that refuses them', () => {
    expect(refusalText(4947)).toBe('claim_new: a second claim');
    expect(refusalText(1)).toBe('error 1');
  });
});

describe('accounts', () => {
  it('are read by name, also in the ring of epochs, and other bytes are refused', () => {
    const data = Buffer.alloc(State.bytesOf('config'));
    data[0] = 1;
    programs.write('config', data, { 'epochs.3.amount': 77n, 'epochs.15.state': 2, unbonding_seconds: 9n });
    const state = State.read('config', data);
    expect(state?.number('epochs.3.amount')).toBe(77n);
    expect(state?.number('epochs.15.state')).toBe(2n);
    expect(state?.number('unbonding_seconds')).toBe(9n);
    expect(State.read('stake', data)).toBeNull();
    expect(State.read('config', data.subarray(1))).toBeNull();
  });
});

describe('the tree of an epoch', () => {
  const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ owner: wire.keyOf(`owner ${index}`).key as Buffer, index, amount: BigInt(1_000 + index), units: BigInt(index) }));
  const csvOf = (rows: ReturnType<typeof rowsOf>) => ['owner,index,amount,units', ...rows.map(({ owner, index, amount, units }) => `${wire.toBase58(owner)},${index},${amount},${units}`), ''].join('\n');
  it('has the root and the paths that the program checks', async () => {
    for (const count of [1, 2, 3, 5, 9]) {
      const should = new Tree(rowsOf(count));
      const sorted = [...rowsOf(count)].sort((a, b) => Buffer.compare(a.owner, b.owner));
      const tree = await SumTree.create(parseRows(csvOf(sorted)));
      expect(tree.makes(should.root.hash, should.root.sum)).toBe(true);
      expect(tree.makes(should.root.hash, should.root.sum + 1n)).toBe(false);
      for (const { owner } of rowsOf(count)) expect(hex(tree.path(tree.position(owner)))).toBe(hex(Buffer.concat(should.path(should.position(owner)))));
      expect(tree.position(keyOf('another owner'))).toBe(-1);
    }
  });
  it('is read with a column of emission, and other texts are refused', () => {
    const row = csvOf(rowsOf(1)).trim().split('\n')[1] ?? '';
    expect(parseRows(`owner,index,amount,units,emission\n${row},5\n`)[0]?.amount).toBe(1_000n);
    for (const wrong of ['', 'x\n', `owner,index,amount,units\n${row.replace(/,1000,/, ',-1,')}\n`, 'owner,index,amount,units\nx,1,1,1\n']) expect(() => parseRows(wrong)).toThrow();
  });
});

describe('proposals', () => {
  it('say what they would change', () => {
    const text = (values: Record<string, unknown>) => {
      const data = Buffer.alloc(State.bytesOf('proposal'));
      data[0] = 8;
      programs.write('proposal', data, values);
      const state = State.read('proposal', data);
      return state === null ? '' : proposalText(state);
    };
    const target = wire.keyOf('target').key as Buffer;
    expect(text({ action: 0, parameter: 0, value: 200n })).toBe('Set fee_bps to 200');
    expect(text({ action: 1, value: 5_000_000n, target })).toBe(`Pay 5.000000 credits of the treasury to the token account ${base58(target)}`);
    expect(text({ action: 3, value: 2n, target })).toBe(`Make ${base58(target)} guardian number 2`);
  });
  it('stand as their votes and the chain’s time say', () => {
    const proposal = { endsAt: 10, readyAt: 20, yes: 6n, no: 5n, quorum: 11n, executed: false } as Proposal;
    expect(standing(proposal, 9)).toBe('open');
    expect(standing(proposal, 10)).toBe('waiting');
    expect(standing(proposal, 20)).toBe('ready');
    expect(standing({ ...proposal, quorum: 12n }, 20)).toBe('rejected');
    expect(standing({ ...proposal, no: 6n }, 20)).toBe('rejected');
    expect(standing({ ...proposal, executed: true }, 20)).toBe('carried out');
  });
});

describe('amounts', () => {
  it('are whole micro-credits, written with all their digits', () => {
    expect(parseCredits('25')).toBe(25_000_000n);
    expect(parseCredits(' 0.000001 ')).toBe(1n);
    for (const wrong of ['', '0', '-1', '1e3', '0.0000001', '1,5', 'a few']) expect(parseCredits(wrong)).toBeNull();
    expect(creditsText(1n)).toBe('0.000001 credits');
    expect(creditsText(12_345_678n)).toBe('12.345678 credits');
  });
});
