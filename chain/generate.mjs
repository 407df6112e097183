#!/usr/bin/env node
// Writes program/layout.h, LAYOUT.md and the client's tables from layout.mjs. With --check it
// writes nothing and fails if one of them is out of date.
import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as layout from './layout.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const { accounts, records, instructions, parameters, checksOf, numbered, lengthOf, widthOf, sizes } = layout;

const ctype = { u8: 'u8', u16: 'u16', u32: 'u32', u64: 'u64', key: 'Key' };
const pascal = (name) => name.split('_').map((word) => word[0].toUpperCase() + word.slice(1)).join('');

function structOf(name, fields) {
  let at = 0;
  const lines = [];
  for (const [field, type, count] of fields) {
    const size = sizes[type] ?? lengthOf(records[type].fields);
    const align = type === 'key' || records[type] ? 8 : size;
    if (at % align) throw new Error(`${name}.${field} at ${at} is not aligned`);
    lines.push(`  ${ctype[type] ?? pascal(type)} ${field}${count ? `[${count}]` : ''};`);
    at += size * (count ?? 1);
  }
  return `struct ${pascal(name)} {\n${lines.join('\n')}\n};\nstatic_assert(sizeof(${pascal(name)}) == ${lengthOf(fields)});\n`;
}

function dataOf(name, { data }) {
  let at = 0;
  const lines = [];
  for (const [field, type, count] of data) {
    if (field !== 'tag' && field !== 'unused') {
      const index = count ? 'u64 i' : '';
      const place = `data + ${at}${count ? ` + i * ${sizes[type]}` : ''}`;
      lines.push(type === 'key' ? `  const Key& ${field}(${index}) const { return *reinterpret_cast<const Key*>(${place}); }` : type === 'u48' ? `  u64 ${field}(${index}) const { return load<u32>(${place}) | u64(load<u16>(${place} + 4)) << 32; }` : `  ${ctype[type]} ${field}(${index}) const { return load<${ctype[type]}>(${place}); }`);
    }
    if (field !== 'tag' && field !== 'unused') lines.push(`  static constexpr u64 ${field}_at = ${at};`);
    at += widthOf([field, type, count]);
  }
  return `struct ${pascal(name)}Data {\n  const u8* data;\n${lines.join('\n')}\n  static constexpr u64 size = ${at};\n};\n`;
}

function guardOf(name, { accounts: list, data, tail }) {
  const id = (check) => `${name}_${check}`;
  const size = lengthOf(data);
  const lines = [];
  lines.push(tail ? `  REQUIRE(${id('length')}, c.length >= ${size} && (c.length - ${size}) % ${tail} == 0);` : `  REQUIRE(${id('length')}, c.length == ${size});`);
  lines.push(`  REQUIRE(${id('count')}, c.count ${list.at(-1)[3]?.more ? '>=' : '>='} ${list.length});`);
  const config = list.findIndex(([, , kind]) => kind === 'config');
  // The config comes first, because the other accounts are compared with it.
  const order = list.map((row, i) => [row, i]).sort((a, b) => (b[1] === config) - (a[1] === config) || a[1] - b[1]);
  for (const [[account, flags, kind = 'any', more = {}], i] of order) {
    const at = `c.a[${i}]`;
    if (flags.includes('s')) lines.push(`  REQUIRE(${id(`${account}_signer`)}, ${at}.signer);`);
    if (flags.includes('w') || more.writable) lines.push(`  REQUIRE(${id(`${account}_writable`)}, ${at}.writable);`);
    if (accounts[kind]) {
      lines.push(`  REQUIRE(${id(`${account}_program`)}, same(*${at}.owner, *c.program));`);
      lines.push(`  REQUIRE(${id(`${account}_kind`)}, ${at}.size == sizeof(${pascal(kind)}) && ${at}.data[0] == ${accounts[kind].kind});`);
      if (kind !== 'config') lines.push(`  REQUIRE(${id(`${account}_network`)}, same(${at}.as<${pascal(kind)}>().config, *c.a[${config}].key));`);
    } else if (kind === 'token') {
      lines.push(`  REQUIRE(${id(`${account}_program`)}, same(*${at}.owner, token_program_key) && ${at}.size == token_account_size);`);
      lines.push(`  REQUIRE(${id(`${account}_mint`)}, same(${at}.token_mint(), c.a[${config}].as<Config>().mint));`);
    } else if (kind === 'guardian') lines.push(`  REQUIRE(${id(`${account}_key`)}, is_guardian(c.a[${config}].as<Config>(), *${at}.key));`);
    else if (['token_program', 'system_program', 'instructions'].includes(kind)) lines.push(`  REQUIRE(${id(`${account}_key`)}, same(*${at}.key, ${kind}_key));`);
    else if (!['any', 'new'].includes(kind)) lines.push(`  REQUIRE(${id(`${account}_key`)}, same(*${at}.key, c.a[${config}].as<Config>().${kind}));`);
  }
  return `// ${instructions[name].purpose.replace(/(.{1,94})(\s|$)/g, '$1\n// ').replace(/\n\/\/ $/, '')}\nnamespace ${name}_accounts {\nenum : u64 { ${list.map(([account]) => account).join(', ')} };\n}\nFN u64 guard_${name}(Context& c) {\n${lines.join('\n')}\n  return 0;\n}\n`;
}

function header() {
  const checks = [...numbered()].map(([number, { name }]) => `  ${name} = ${number},`).join('\n');
  return `// Written by chain/generate.mjs from chain/layout.mjs; do not edit.
#pragma once

#include "runtime.h"

enum class Check : u32 {
${checks}
};
enum class Tag : u8 { ${Object.entries(instructions).map(([name, { tag }]) => `${name} = ${tag}`).join(', ')} };
constexpr u64 ring = ${layout.ring}, page_owners = ${layout.page_owners}, depth_max = ${layout.depth_max}, guardians_max = ${layout.guardians_max};

${Object.entries(records).map(([name, { fields }]) => structOf(name, fields)).join('\n')}
${Object.entries(accounts).map(([name, { fields, kind }]) => structOf(name, fields) + `constexpr u8 ${name}_kind = ${kind};\n`).join('\n')}
struct Bounds {
  u64 least, most;
};
constexpr Bounds parameter_bounds[${parameters.length}] = {${parameters.map(([, least, most]) => `{${least}, ${most}}`).join(', ')}};

${Object.entries(instructions).map(([name, one]) => dataOf(name, one)).join('\n')}
FN bool is_guardian(const Config& config, const Key& key) {
  for (u64 i = 0; i < config.guardian_count; ++i)
    if (same(config.guardians[i], key)) return true;
  return false;
}

${Object.entries(instructions).map(([name, one]) => guardOf(name, one)).join('\n')}`;
}

function table(head, rows) {
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}
function fieldTable(fields) {
  let at = 0;
  return table(['at', 'field', 'type'], fields.map(([field, type, count]) => { const row = [at, `\`${field}\``, count ? `${type} x ${count}` : type]; at += widthOf([field, type, count]); return row; }));
}
function document() {
  const parts = ['# Byte layouts of the on-chain program', 'Written by `chain/generate.mjs` from `chain/layout.mjs`; do not edit. Integers are little-endian; `key` is 32 bytes. "The program\'s address for SEEDS" is the program-derived address of these seeds, where an account stands for its key.', '## Accounts'];
  for (const [name, { kind, seeds, purpose, fields }] of Object.entries(accounts))
    parts.push(`### ${name}`, `${purpose} Kind ${kind}, ${lengthOf(fields)} bytes, at the program's address for ${seeds}.`, fieldTable(fields));
  parts.push('### page', `Claimed amounts of ${layout.page_owners} owners, u64 each, without a header: ${layout.page_owners * 8} bytes, at the program's address for "page", config, u32 page.`);
  parts.push('## Records');
  for (const [name, { purpose, fields }] of Object.entries(records)) parts.push(`### ${name}`, `${purpose} ${lengthOf(fields)} bytes.`, fieldTable(fields));
  parts.push('## Parameters', table(['number', 'parameter', 'least', 'most'], parameters.map(([name, least, most], i) => [i, `\`${name}\``, least, most])));
  parts.push('## Instructions');
  const kinds = numbered();
  for (const [name, one] of Object.entries(instructions)) {
    parts.push(`### ${name} (${one.tag})`, one.purpose, table(['account', 'signer', 'writable', 'is'], one.accounts.map(([account, flags, kind = 'any', more = {}]) => [`\`${account}\``, flags.includes('s') ? 'yes' : '', flags.includes('w') || more.writable ? 'yes' : '', kind])),
      `Data, ${lengthOf(one.data)} bytes${one.tail ? ` and ${one.tail} for each sibling` : ''}:`, fieldTable(one.data),
      table(['error', 'check', 'the attack that goes through without it'], [...kinds].filter(([, k]) => k.instruction === name).map(([number, k]) => [number, `\`${k.check}\``, k.attack])));
  }
  parts.push('## Checks that instructions share', table(['error', 'check', 'the attack that goes through without it'], [...kinds].filter(([, k]) => k.instruction === 'shared').map(([number, k]) => [number, `\`${k.check}\``, k.attack])));
  return parts.join('\n\n') + '\n';
}

// Writes the layouts for the client, as tables that are read at run time
// (src/common/solana/program.h).
function clientTable() {
  const type = (name) => `FieldType::${name === 'key' ? 'key' : name}`;
  // The records of the ring are written out one by one, such as epochs.3.state.
  const flat = (fields) => {
    const out = [];
    let at = 0;
    for (const [name, kind, count] of fields) {
      if (records[kind]) for (let i = 0; i < count; ++i) { let inner = at + i * lengthOf(records[kind].fields); for (const one of records[kind].fields) { out.push([`${name}.${i}.${one[0]}`, one[1], 1, inner]); inner += widthOf(one); } }
      else if (name !== 'unused') out.push([name, kind, count ?? 1, at]);
      at += widthOf([name, kind, count]);
    }
    return out;
  };
  const fields = (name, list) => `constexpr std::array<Field, ${flat(list).length}> ${name}_fields = {{${flat(list).map(([field, kind, count, at]) => `{"${field}", ${type(kind)}, ${at}, ${count}}`).join(', ')}}};\n`;
  const parts = [];
  for (const [name, one] of Object.entries(instructions)) {
    parts.push(fields(`${name}_call`, one.data));
    parts.push(`constexpr std::array<CallAccount, ${one.accounts.length}> ${name}_call_accounts = {{${one.accounts.map(([account, flags, kind = 'any', more = {}]) => `{"${account}", "${kind}", ${flags.includes('s')}, ${flags.includes('w') || !!more.writable}}`).join(', ')}}};\n`);
  }
  for (const [name, one] of Object.entries(accounts)) parts.push(fields(`${name}_state`, one.fields));
  return `// Written by chain/generate.mjs from chain/layout.mjs; do not edit.
#include <array>

#include "common/solana/program.h"

namespace weft::solana {
namespace {

${parts.join('')}
constexpr std::array<CallLayout, ${Object.keys(instructions).length}> calls = {{${Object.entries(instructions).map(([name, one]) => `{"${name}", ${one.tag}, ${lengthOf(one.data)}, ${name}_call_accounts, ${name}_call_fields}`).join(', ')}}};
constexpr std::array<StateLayout, ${Object.keys(accounts).length}> states = {{${Object.entries(accounts).map(([name, one]) => `{"${name}", ${one.kind}, ${lengthOf(one.fields)}, ${name}_state_fields}`).join(', ')}}};
constexpr std::array<CheckText, ${numbered().size}> checks = {{${[...numbered()].map(([number, { name, attack }]) => `{${number}, "${name}", ${JSON.stringify(attack)}}`).join(', ')}}};
constexpr std::array<ParameterBounds, ${parameters.length}> bounds = {{${parameters.map(([name, least, most]) => `{"${name}", ${least}, ${most}}`).join(', ')}}};

}  // namespace

std::span<const CallLayout> call_layouts() { return calls; }
std::span<const StateLayout> state_layouts() { return states; }
std::span<const CheckText> check_texts() { return checks; }
std::span<const ParameterBounds> parameter_bounds() { return bounds; }

}  // namespace weft::solana
`;
}

const formatted = (text) => execFileSync('clang-format-21', ['--assume-filename=layout.h'], { input: text, encoding: 'utf8', cwd: path.join(here, 'program') });
const files = { 'program/layout.h': formatted(header()), 'LAYOUT.md': document() };
// A copy of this folder alone, which a test makes, has no client beside it.
if (fs.existsSync(path.join(here, '../src/common/solana'))) files['../src/common/solana/program_tables.cpp'] = formatted(clientTable());
let old = 0;
for (const [file, text] of Object.entries(files)) {
  const full = path.join(here, file);
  if (fs.existsSync(full) && fs.readFileSync(full, 'utf8') === text) continue;
  if (process.argv.includes('--check')) { console.error(`chain/${file} is not what chain/generate.mjs writes; run it.`); old = 1; }
  else fs.writeFileSync(full, text);
}
process.exitCode = old;
