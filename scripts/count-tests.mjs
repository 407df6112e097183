// Adds up the results that GoogleTest, Vitest and node:test wrote into a folder. Names failed and
// skipped tests, and prints "N passed, N failed, N skipped" last, and ", N not run" if the time was
// over before some programs or parts began or ended (ROOT/not-run, a name a line). Exit code 1 if a
// test failed or no test ran.
import fs from 'node:fs';
import path from 'node:path';

const root = process.argv[2];
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const skips = [];

function count(outcome, name) {
  total[outcome] += 1;
  if (outcome === 'failed') failures.push(name);
  if (outcome === 'skipped') skips.push(name);
}

function readGoogleTest(file) {
  const report = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const suite of report.testsuites) {
    for (const test of suite.testsuite) {
      const name = `${path.basename(file, '.json').replace(/_1$/, '')}: ${suite.name}.${test.name}`;
      if (test.result === 'SKIPPED' || test.status === 'NOTRUN') count('skipped', name);
      else count(test.failures?.length ? 'failed' : 'passed', name);
    }
  }
}

// A program that failed is run once more, and GoogleTest then writes NAME_1.json beside NAME.json.
// The last run counts.
function lastRuns(reports) {
  const repeated = reports.filter((name) => reports.includes(name.replace(/\.json$/, '_1.json')));
  for (const name of repeated) console.log(`RUN TWICE: ${path.basename(name, '.json')} (it failed at the first run)`);
  return reports.filter((name) => !repeated.includes(name));
}

// Reads tests of ctest that are not GoogleTest programs: the arrows, the fuzzers' quick runs, and
// programs that crashed before they reported.
function readCtest(file, reported) {
  for (const [, attributes] of fs.readFileSync(file, 'utf8').matchAll(/<testcase ([^>]*)>/g)) {
    const name = /name="([^"]*)"/.exec(attributes)[1];
    const status = /status="([^"]*)"/.exec(attributes)?.[1];
    if (!reported.has(name)) count(status === 'run' ? 'passed' : status === 'disabled' || status === 'notrun' ? 'skipped' : 'failed', name);
  }
}

function readVitest(file) {
  for (const suite of JSON.parse(fs.readFileSync(file, 'utf8')).testResults) {
    for (const test of suite.assertionResults) {
      count(test.status === 'passed' ? 'passed' : test.status === 'failed' ? 'failed' : 'skipped', `web: ${test.fullName}`);
    }
  }
}

function readTap(file) {
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    // Counts only lines at the top level, because each test has one such line.
    const match = /^(not )?ok \d+ - (.*?)( # (SKIP|TODO).*)?$/.exec(line);
    if (match) count(match[3] ? 'skipped' : match[1] ? 'failed' : 'passed', `${path.basename(file, '.tap')}: ${match[2]}`);
  }
}

for (const entry of fs.readdirSync(root, { withFileTypes: true })) {
  const file = path.join(root, entry.name);
  if (entry.isDirectory()) {
    const reports = fs.readdirSync(file).filter((name) => name.endsWith('.json'));
    for (const name of lastRuns(reports)) readGoogleTest(path.join(file, name));
    const reported = new Set(reports.map((name) => path.basename(name, '.json')));
    if (fs.existsSync(`${file}-ctest.xml`)) readCtest(`${file}-ctest.xml`, reported);
    if (fs.existsSync(`${file}-ctest`)) for (const one of fs.readdirSync(`${file}-ctest`)) readCtest(path.join(`${file}-ctest`, one), reported);
  } else if (entry.name === 'web.json') readVitest(file);
  else if (entry.name.endsWith('.tap')) readTap(file);
}

const notRun = fs.existsSync(path.join(root, 'not-run')) ? fs.readFileSync(path.join(root, 'not-run'), 'utf8').trim().split('\n') : [];
for (const name of notRun) console.log(`NOT RUN ${name}`);
for (const name of skips) console.log(`SKIPPED ${name}`);
for (const name of failures) console.log(`FAILED  ${name}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped${notRun.length > 0 ? `, ${notRun.length} not run` : ''}`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
