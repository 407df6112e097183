// Invalid values of `serve` and `work`, and invalid command lines: the program writes one sentence
// to standard error that names the option and the values that it takes, ends with 2, writes nothing
// to standard output, and begins nothing. Every row runs the program.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, scratch } from './lib.mjs';

const whole = (least, most) => (option, value) => `${option} ${value} is not a whole number from ${least} to ${most}.`;
const bytes = whole(1, 2 ** 50);
const count = whole(1, 1_000_000_000);
const day = 86_400_000;
const notNumbers = ['x', '-1', '1.5', '1e3', '99999999999999999999999', "''"];

/** The rows of one option: invalid values and the sentence about each. */
const rows = (command, option, values, sentence) => values.map((value) => {
  const text = value === "''" ? '' : value;
  return [[command, option, text], typeof sentence === 'function' ? sentence(option, text === '' ? '""' : text) : sentence];
});
const credits = (option, value) => `${option} ${value} is not an amount of credits from 0 to 10^12.`;
const number = (option, value) => `${option} ${value} is not a number.`;
const listen = (option, value) => `--listen ${value} is not an ADDRESS:PORT such as 127.0.0.1:7300 or [::1]:7300.`;
const peer = (option, value) => `${option} ${value} is not an ADDRESS[:PORT] such as 192.168.1.5 or [fe80::1]:7400.`;

function serveRows(folder) {
  const text = path.join(folder, 'text');
  fs.writeFileSync(text, 'text');
  const gone = path.join(folder, 'gone');
  return [
    ...rows('serve', '--listen', ['x', '127.0.0.1', '127.0.0.1:', ':7300', '127.0.0.1:99999', '127.0.0.1:-1', '127.0.0.1:7300x'], listen),
    ...rows('serve', '--listen', ['weft.example:7300'], '--listen weft.example:7300: "weft.example" is not an IP address, such as 127.0.0.1 or 0.0.0.0.'),
    ...rows('serve', '--listen', ['[::1:7300'], '--listen [::1:7300: "[::1" is not an IP address, such as 127.0.0.1 or 0.0.0.0.'),
    [['serve', '--insecure', '--listen', '203.0.113.5:7300'], '203.0.113.5 is not an address of this machine, so nothing can listen there (--listen).'],
    ...rows('serve', '--data', [path.join(text, 'x')], `The data folder ${text}/x (--data) cannot be made: Not a directory.`),
    ...rows('serve', '--store', ['postgres:'], '--store postgres: is not a store that this build knows: it takes sqlite:, sqlite:PATH or memory:.'),
    ...rows('serve', '--grant', ['x', '1.5.5'], number),
    ...rows('serve', '--grant', ['-1', 'inf', 'nan', '1e13'], (option, value) => credits(option, value === '1e13' ? '1e+13' : value)),
    ...rows('serve', '--stake-target', ['x'], number),
    ...rows('serve', '--stake-target', ['-1', 'nan'], credits),
    ...rows('serve', '--tls-cert', [gone], `--tls-cert ${gone} does not exist.`),
    ...rows('serve', '--tls-cert', [folder], `--tls-cert ${folder} is a folder, not a file.`),
    ...rows('serve', '--tls-key', [gone], `--tls-key ${gone} does not exist.`),
    ...rows('serve', '--tls-cert', [text], '--tls-cert and --tls-key go together.'),
    [['serve', '--tls-cert', text, '--tls-key', text], `${text} is not a PEM certificate that can be read.`],
    ...rows('serve', '--web', [gone], `--web ${gone} is not a folder.`),
    ...rows('serve', '--task-wall-ms', [...notNumbers, '0', String(day + 1)], whole(1, day)),
    ...rows('serve', '--checkpoint-ms', [...notNumbers, String(day + 1)], whole(0, day)),
    ...rows('serve', '--client-weight', ['x', 'x=1', `${'A'.repeat(52)}=0`], (option, value) => `--client-weight ${value} is not an ADDRESS=WEIGHT with a weight from 0.001 to 1000.`),
    ...['--blob-bytes-max', '--blobs-bytes-max', '--job-input-bytes-max', '--job-output-bytes-max'].flatMap((option) => rows('serve', option, [...notNumbers, '0', '18446744073709551615'], bytes)),
    [['serve', '--blob-bytes-max', '11', '--blobs-bytes-max', '10'], '--blob-bytes-max 11 is more than all blobs together may take (--blobs-bytes-max 10).'],
    ...['--jobs-max', '--tasks-max'].flatMap((option) => rows('serve', option, [...notNumbers, '0', '1000000001'], count)),
    ...rows('serve', '--workers-max', [...notNumbers, '0', '1000001'], whole(1, 1_000_000)),
    ...rows('serve', '--stake-permille', [...notNumbers, '1001'], whole(0, 1000)),
    ...rows('serve', '--guest-requests', [...notNumbers, '1000001'], whole(0, 1_000_000)),
    ...rows('serve', '--wire', ['f64', 'F32', "''"], (option, value) => `--wire ${value} is not one of f32, f16 and i8.`),
    ...rows('serve', '--partition', ['row'], '--partition row is not one of layer, batch and hybrid.'),
    ...rows('serve', '--partition', ['spatial'], '--partition spatial is for models of images: a prompt has no rows and columns to cut.'),
    ...rows('serve', '--ice-servers', [gone], `--ice-servers ${gone} is neither a JSON array nor a file that can be read.`),
    ...rows('serve', '--ice-servers', ['[1]'], '[0]: must be an object, not a number (line 1, column 2) - while reading --ice-servers'),
    ...rows('serve', '--rate-limit', ['x'], number),
    ...rows('serve', '--rate-limit', ['-1', '0', 'nan', 'inf'], (option, value) => `--rate-limit ${value} is not a number from 1 to 10^6.`),
    [['serve', '--require-keys', '--open-models'], 'Give either --require-keys or --open-models, not both.'],
    [['serve', '--tls-self-signed', '--tls-cert', text, '--tls-key', text], 'Give either --tls-self-signed or --tls-cert, not both.'],
    [['serve', '--listen'], '--listen needs a text; see weft serve --help.'],
    [['serve', '--jobs-max'], '--jobs-max needs a whole number from 1 to 1000000000; see weft serve --help.'],
    [['serve', '--port', '7300'], 'There is no option "--port"; see weft serve --help.'],
    [['serve', '127.0.0.1:7300'], '"127.0.0.1:7300" is one argument too many; see weft serve --help.'],
    [['serve', '--wire', 'f16', '--wire', 'i8'], '--wire is given twice; see weft serve --help.'],
  ];
}

function workRows(folder) {
  const text = path.join(folder, 'text');
  fs.writeFileSync(text, 'text');
  const gone = path.join(folder, 'gone');
  // No process listens at this address, so that a row that is not refused would be tried without
  // end.
  const at = (list) => list.map(([args, sentence]) => [[...args, '--coordinator', 'http://127.0.0.1:9'], sentence]);
  const url = (value, why) => [['work', '--coordinator', value], `"${value}" ${why}`];
  const path_ = 'is not a URL of a coordinator: it wants http://HOST:PORT without a path.';
  return [
    [['work'], '--coordinator is missing (or WEFT_COORDINATOR); see weft work --help.'],
    [['work', '--coordinator'], '--coordinator needs a text; see weft work --help.'],
    url('127.0.0.1:7300', 'is not a URL of a coordinator: it begins with neither http:// nor https://.'),
    url('ftp://127.0.0.1', 'is not a URL of a coordinator: it begins with neither http:// nor https://.'),
    url('http://', path_),
    url('http://127.0.0.1:7300/v1', path_),
    url('http://me:secret@127.0.0.1:7300', path_),
    url('http://weft.example/v1', path_),
    url('http://127.0.0.1:99999', 'is not a URL of a coordinator: "99999" is not a port.'),
    url('http://127.0.0.1:0', 'is not a URL of a coordinator: "0" is not a port.'),
    url('http://[::1', 'has an opening bracket without its closing one.'),
    ...at([
      ...rows('work', '--device', ['tpu', 'GPU'], (option, value) => `--device ${value} is not one of gpu and cpu.`),
      ...rows('work', '--adapter', ['x', '-1', '0,x', '0,0', '1.5'], (option, value) => `--adapter "${value}" is not all, nor numbers of GPUs such as 0 or 0,1.`),
      [['work', '--device', 'cpu', '--adapter', '0'], '--adapter: the processor has no number: leave it out with --device cpu; see weft work --help.'],
      ...rows('work', '--slots', [...notNumbers, '0', '65'], whole(1, 64)),
      ...rows('work', '--wall-ms-max', [...notNumbers, '9', '3600001'], whole(10, 3_600_000)),
      ...rows('work', '--memory-mb', [...notNumbers, '15', '1048577'], whole(16, 1_048_576)),
      ...rows('work', '--slice-memory-mb', [...notNumbers, '1048577'], whole(0, 1_048_576)),
      ...rows('work', '--slice-memory-mb', ['5000'], '--slice-memory-mb 5000 is more than all of --memory-mb (1024), so no task would fit.'),
      ...rows('work', '--model-memory-mb', [...notNumbers, '16777217'], whole(0, 16_777_216)),
      ...['--peer-listen', '--peer-address'].flatMap((option) => rows('work', option, ['x', '300.1.1.1', '127.0.0.1:', '127.0.0.1:99999', '127.0.0.1:-1', ':7400', '[::1', 'weft.example:7400'], peer)),
      ...rows('work', '--ca-cert', [gone], `--ca-cert ${gone} does not exist.`),
      ...rows('work', '--ca-cert', [folder], `--ca-cert ${folder} is a folder, not a file.`),
      ...rows('work', '--ca-cert', [text], `--ca-cert ${text} is not a PEM certificate that can be read.`),
      ...rows('work', '--wallet', [text], /^The wallet '.*text' .*\.$/),
      [['work', 'extra'], '"extra" is one argument too many; see weft work --help.'],
    ]),
  ];
}

for (const [command, table] of [['serve', serveRows], ['work', workRows]]) {
  test(`every value that ${command} refuses is refused with one sentence`, { timeout: 240_000 }, async (t) => {
    const folder = scratch(t);
    const env = { XDG_DATA_HOME: path.join(folder, 'data'), XDG_CONFIG_HOME: path.join(folder, 'config'), XDG_CACHE_HOME: path.join(folder, 'cache') };
    const wrong = [];
    for (const [args, sentence] of table(folder)) {
      const { code, stdout, stderr } = await run(args, { seconds: 10, env });
      const said = stderr.startsWith(`weft ${command}: `) && stderr.endsWith('\n') ? stderr.slice(command.length + 7, -1) : stderr;
      const right = sentence instanceof RegExp ? sentence.test(said) : said === sentence;
      if (code !== 2 || stdout !== '' || !right || said.includes('\n')) wrong.push(`${args.join(' ')}\n  gives ${code} ${stdout}${stderr}  not   ${sentence}`);
    }
    assert.equal(wrong.length, 0, wrong.join('\n'));
  });
}

test('invalid command lines are refused with a sentence', { timeout: 60_000 }, async (t) => {
  const folder = scratch(t);
  const table = [
    [[], 'weft needs a command; see weft --help.'],
    [['frobnicate'], 'There is no command "frobnicate"; see weft --help.'],
    [['--frobnicate'], 'There is no option "--frobnicate"; see weft --help.'],
    [['wallet'], 'weft wallet needs a command; see weft wallet --help.'],
    [['--coordinator', 'http://127.0.0.1:9', 'ledger'], 'weft ledger: The option --coordinator must stand after its command: weft ledger --coordinator ...'],
    [['--json', 'plan'], 'weft plan: The option --json must stand after its command: weft plan --json ...'],
    [['--follow=x', 'submit', '--coordinator', 'http://127.0.0.1:9'], 'weft submit: The option --follow must stand after its command: weft submit --follow ...'],
    [['run'], 'weft run: manifest is missing; see weft run --help.'],
    [['run', 'a.json', 'b.json'], 'weft run: "b.json" is one argument too many; see weft run --help.'],
    [['run', 'a.json', '--device'], 'weft run: --device needs one of gpu and cpu; see weft run --help.'],
    [['submit', '--coordinator', 'http://127.0.0.1:9'], 'weft submit: name one of: a manifest, --follow JOB, --show JOB, --share JOB, --cancel JOB; see weft submit --help.'],
    [['model', 'add', path.join(folder, 'no.gguf'), '--coordinator', 'http://127.0.0.1:9'], `weft model add: ${path.join(folder, 'no.gguf')} does not exist.`],
    [['model', 'add', folder, '--coordinator', 'http://127.0.0.1:9'], `weft model add: ${folder} is a folder, not a file.`],
    [['plan', '--workers', '10,x'], 'weft plan: --workers 10,x is not a whole number from 1 to 20000.'],
    [['plan', '--mbit', '0'], 'weft plan: --mbit 0 is not a number above 0.'],
    [['plan', '--simulate', '--workers', '10', '--tasks', '100000000'], 'weft plan: The simulation runs at most 2000000 replicas of tasks; this job has 100000000 (--tasks, --replicas).'],
    [['plan', '--task-ms', '1', '--task-gflop', '2'], /^weft plan: Give either --task-(ms|gflop) or --task-(ms|gflop), not both\.$/],
    [['generate', '--model', 'm'], 'weft generate: name one of --prompt and --messages; see weft generate --help.'],
    [['generate', '--model', 'm', '--prompt', 'x', '--seed', '99999999999999999999999999'], 'weft generate: --seed 99999999999999999999999999 is too large.'],
    [['bench', 'serving', '--only', 'hop,nothing'], /^weft bench serving: --only hop,nothing is not one of hop, .* and grammar\.$/],
    [['key', 'list', '--coordinator', 'http://127.0.0.1:9', '--data', path.join(folder, 'gone')], `weft key list: --data ${path.join(folder, 'gone')} does not exist.`],
    [['completion', 'tcsh'], "weft completion: Weft has no completion script for the shell 'tcsh': only for bash, zsh and fish."],
  ];
  for (const [args, sentence] of table) {
    const { code, stdout, stderr } = await run(args, { seconds: 10 });
    assert.deepEqual({ args, code, stdout }, { args, code: 2, stdout: '' });
    if (sentence instanceof RegExp) assert.match(stderr.trimEnd(), sentence);
    else assert.equal(stderr, `${sentence}\n`);
  }
});
