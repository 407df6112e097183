// The calls and accounts of the on-chain program by name, from the layout from which the program itself is generated (chain/layout.mjs).
import * as layout from '../../../../chain/layout.mjs';
import { fromBase58, joined, little, numberAt, text, type Bytes } from './bytes';
import { instructionsSysvar, programAddress, systemProgram, tokenProgram, type ProgramAddress } from './addresses';
import type { Instruction } from './transaction';

export const ownersOfPage = layout.page_owners;
export const ring = layout.ring;

export class State {
  private constructor(
    private readonly fields: readonly layout.Field[],
    private readonly bytes: Uint8Array,
  ) {}

  /** Returns null if the bytes are not an account of this kind. */
  static read(kind: string, bytes: Uint8Array): State | null {
    const made = layout.accounts[kind];
    if (made === undefined || bytes.length !== layout.lengthOf(made.fields) || bytes[0] !== made.kind) return null;
    return new State(made.fields, bytes);
  }
  static bytesOf(kind: string): number {
    return layout.lengthOf(layout.accounts[kind]?.fields ?? []);
  }
  private place(name: string): readonly [at: number, width: number] {
    let at = 0;
    let fields = this.fields;
    const steps = name.split('.');
    for (let step = 0; step < steps.length; step += 1) {
      const wanted = steps[step];
      for (const field of fields) {
        if (field[0] !== wanted) {
          at += layout.widthOf(field);
          continue;
        }
        const record = layout.records[field[1]];
        if (record === undefined) return [at, layout.sizes[field[1]] ?? 0];
        step += 1;
        at += Number(steps[step]) * layout.lengthOf(record.fields);
        fields = record.fields;
        break;
      }
    }
    throw new Error(`There is no field ${name}.`);
  }
  number(name: string): bigint {
    const [at, width] = this.place(name);
    return numberAt(this.bytes, at, width);
  }
  key(name: string): Bytes {
    const [at] = this.place(name);
    return this.bytes.slice(at, at + 32) as Bytes;
  }
}

/** Makes an instruction of the program from accounts and fields by name; `tail` follows the fields. */
export function call(
  program: Bytes,
  name: string,
  keys: Readonly<Record<string, Bytes>>,
  values: Readonly<Record<string, bigint | number>> = {},
  tail: Uint8Array = new Uint8Array(),
): Instruction {
  const made = layout.instructions[name];
  if (made === undefined) throw new Error(`There is no instruction ${name}.`);
  const fixed: Record<string, Bytes> = { system_program: systemProgram, token_program: tokenProgram, instructions: instructionsSysvar };
  const accounts = made.accounts.map(([account, flags, , more]) => {
    const key = keys[account] ?? fixed[account];
    if (key === undefined) throw new Error(`${name} needs the account ${account}.`);
    return { key, signer: flags.includes('s'), writable: flags.includes('w') || more?.writable === true };
  });
  const fields = made.data.map(([field, type]) => little(field === 'tag' ? made.tag : (values[field] ?? 0), layout.sizes[type] ?? 0));
  return { program, accounts, data: joined(...fields, tail) };
}

let refusals: Map<number, { readonly name: string; readonly attack: string }> | null = null;

/** Returns the message of a check of the program, by the error number of a refused transaction. */
export function refusalText(number: number): string {
  refusals ??= layout.numbered();
  const check = refusals.get(number);
  return check === undefined ? `error ${number}` : `${check.name}: ${check.attack}`;
}

export class Network {
  readonly program: Bytes;
  readonly mint: Bytes;
  constructor(named: { readonly program: string; readonly mint: string }) {
    this.program = fromBase58(named.program);
    this.mint = fromBase58(named.mint);
  }
  private at(...seeds: readonly Uint8Array[]): Promise<ProgramAddress> {
    return programAddress(this.program, ...seeds);
  }
  async config(): Promise<Bytes> {
    return (await this.at(text('config'), this.mint)).key;
  }
  async stake(owner: Bytes): Promise<Bytes> {
    return (await this.at(text('stake'), await this.config(), owner)).key;
  }
  async device(owner: Bytes, device: Bytes): Promise<Bytes> {
    return (await this.at(text('device'), await this.config(), owner, device)).key;
  }
  async receipt(digest: Bytes): Promise<Bytes> {
    return (await this.at(text('receipt'), await this.config(), digest)).key;
  }
  async proposal(number: number): Promise<Bytes> {
    return (await this.at(text('proposal'), await this.config(), little(number, 8))).key;
  }
  async vote(proposal: Bytes, stake: Bytes): Promise<Bytes> {
    return (await this.at(text('vote'), proposal, stake)).key;
  }
  async page(number: number): Promise<ProgramAddress> {
    return this.at(text('page'), await this.config(), little(number, 4));
  }
}
