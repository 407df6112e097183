// Tests the page with a fake engine: compiler messages, runs, submitted jobs, and the messages if
// nothing can run.
import { cleanup, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeLab, type LabAnswers } from '../../../test/FakeLab';
import { Lab } from '../../engine/lab';
import type { LabRun } from '../../engine/labMessages';
import { examples } from './examples';
import { PlaygroundPage } from './PlaygroundPage';
import { toFragment } from './share';

const ran: LabRun = {
  name: 'mandelbrot',
  outputs: [{ name: 'output0', type: 'u32', shape: [4], bytes: new Uint8Array(Uint32Array.of(1, 2, 3, 4000).buffer) }],
  tasks: 1,
  dispatches: 1,
  gpuSeconds: 0.002,
  wallSeconds: 0.004,
  byTimestamps: true,
  root: 'aa',
};

function open(answers: LabAnswers = {}) {
  const port = new FakeLab(answers);
  render(<PlaygroundPage base="http://localhost/" lab={new Lab(() => port)} />);
  return port;
}
const user = userEvent.setup();
const runButton = () => screen.getByRole('button', { name: 'Run' });
const compiles = () => waitFor(() => expect(screen.getByTestId('compiled').dataset['tone']).toBe('good'));

beforeEach(() => window.history.replaceState(null, '', '/playground'));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe('the playground', () => {
  it('compiles what it starts with, and holds it against its bindings', async () => {
    const port = open();

    await compiles();

    expect(port.of('compile')).toHaveLength(1);
    expect(JSON.parse(String(port.of('check')[0]?.argument))).toMatchObject({ name: 'mandelbrot', split: { tasks: 16 } });
    expect(screen.getByTestId('machine').textContent).toContain('Acme One');
  });

  it("shows the compiler's messages with their places, and does not run", async () => {
    const port = open({ compile: () => ({ messages: [{ kind: 'error', line: 3, column: 7, text: "unresolved value 'x'" }] }) });

    await screen.findByText("unresolved value 'x'");

    expect(screen.getByText('3:7', { exact: false })).toBeTruthy();
    expect(screen.getByTestId('compiled').textContent).toBe('1 error');
    expect(runButton()).toHaveProperty('disabled', true);
    expect(port.of('check')).toHaveLength(0);
  });

  it('says where a program that compiles does not fit its bindings', async () => {
    open({
      check: () => {
        throw new Error('bindings[1].split_dim: 1024 rows cannot be cut (line 1, column 2)');
      },
    });

    await screen.findByText(/1024 rows cannot be cut/);

    expect(screen.getByTestId('compiled').textContent).toBe('Does not fit');
  });

  it('shows what a run gave, and by which clock', async () => {
    open({ run: () => ran });
    await compiles();

    await user.click(runButton());

    expect((await screen.findByTestId('timing')).textContent).toContain('Time, GPU clock2 ms');
    await user.click(screen.getByRole('tab', { name: 'Numbers' }));
    expect(within(screen.getByTestId('numbers')).getByText('4,000')).toBeTruthy();
  });

  it('says wall clock where the GPU has none', async () => {
    open({ run: () => ({ ...ran, byTimestamps: false }) });
    await compiles();

    await user.click(runButton());

    expect((await screen.findByTestId('timing')).textContent).toContain('Time, wall clock');
  });

  it('says why a run failed', async () => {
    open({
      run: () => {
        throw new Error('The GPU device is lost: hung');
      },
    });
    await compiles();

    await user.click(runButton());

    expect((await screen.findByTestId('run-error')).textContent).toBe('The GPU device is lost: hung');
  });

  it('ends a run that goes on', async () => {
    const port = open();
    await compiles();
    await user.click(runButton());

    await user.click(await screen.findByRole('button', { name: 'Stop' }));

    expect(port.terminated).toBe(true);
    expect(runButton()).toBeTruthy();
  });

  it('opens the program of a link', async () => {
    const program = { ...examples[4]?.program, name: 'from_a_link' } as (typeof examples)[number]['program'];
    window.history.replaceState(null, '', `/playground#${await toFragment(program)}`);

    const port = open();

    await waitFor(() => expect(screen.getByLabelText('Name')).toHaveProperty('value', 'from_a_link'));
    await screen.findByText('From a link');
    expect(port.of('compile').map(({ argument }) => argument)).not.toContain(program.wgsl);
    expect(runButton()).toHaveProperty('disabled', true);
    expect(screen.getByRole('button', { name: 'Make it a job' })).toHaveProperty('disabled', true);

    await user.click(screen.getByRole('button', { name: 'Take it over' }));

    await compiles();
    expect(port.of('compile').map(({ argument }) => argument)).toContain(program.wgsl);
  });

  it('says that a link is damaged, and starts with an example', async () => {
    window.history.replaceState(null, '', '/playground#p1=nonsense');

    open();

    await screen.findByText('The link is damaged.');
    expect(screen.getByLabelText('Name')).toHaveProperty('value', 'mandelbrot');
  });

  it('says so without WebGPU', async () => {
    open({
      open: () => {
        throw new Error('This browser has no WebGPU.');
      },
    });

    expect((await screen.findByTestId('no-gpu')).textContent).toContain('This browser has no WebGPU.');
    expect(runButton()).toHaveProperty('disabled', true);
  });

  it('signs exactly the text that it hands in, and follows the job to its end', async () => {
    const job = { id: 'abcdef0123456789', state: 'running', tasks: 4, accepted: 1, leased: 2, outputs: [], reason: '', price: 0 };
    const answers = [job, { ...job, state: 'failed', accepted: 1, leased: 0, reason: 'Replicas differ.' }];
    const fetched = vi.fn(async (address: string, request?: RequestInit) =>
      Response.json(
        address.endsWith('/v1/info')
          ? { coordinator: 'Coordinator1' }
          : request?.method === 'POST'
            ? { id: job.id, state: 'running', tasks: 4, escrow: 1, link: 'ab12' }
            : (answers.shift() ?? job),
      ),
    );
    vi.stubGlobal('fetch', fetched);
    const port = open({ sign: () => ({ client: 'Client1', nonce: '00', time: '77', signature: 'Sig1' }) });
    await compiles();

    await user.click(screen.getByRole('button', { name: 'Submit the job' }));

    await screen.findByText('Replicas differ.');
    const [address, request] = fetched.mock.calls.find(([, sent]) => sent?.method === 'POST') ?? [];
    expect(address).toBe('http://localhost/v1/jobs');
    expect(port.of('sign')[0]?.argument).toBe(`Coordinator1 POST /v1/jobs\n${String(request?.body)}`);
    expect(request?.headers).toMatchObject({ 'weft-client': 'Client1', 'weft-nonce': '00', 'weft-time': '77', 'weft-signature': 'Sig1' });
    expect(screen.getByTestId('job').dataset['state']).toBe('failed');
    const [, read] = fetched.mock.calls.find(([sent]) => sent === 'http://localhost/v1/jobs/abcdef0123456789') ?? [];
    expect(read?.headers).toMatchObject({ 'weft-client': 'Client1', 'weft-signature': 'Sig1' });
    expect(port.of('sign').map(({ argument }) => argument)).toContain('Coordinator1 GET /v1/jobs/abcdef0123456789\n');
    expect(screen.getByRole('link', { name: 'Its receipts' }).getAttribute('href')).toBe('http://localhost/dashboard#job=abcdef0123456789&link=ab12');
  });

  it('redeems the invitation that a link brought, once, before it hands in', async () => {
    window.localStorage.setItem('weft-invitation', 'weft-00');
    const job = { id: 'abcdef0123456789', state: 'failed', tasks: 4, accepted: 0, leased: 0, outputs: [], reason: 'Replicas differ.', price: 0 };
    const fetched = vi.fn(async (address: string, request?: RequestInit) =>
      Response.json(address.endsWith('/v1/info') ? { coordinator: 'Coordinator1' } : request?.method === 'POST' ? { ...job, escrow: 1 } : job),
    );
    vi.stubGlobal('fetch', fetched);
    const port = open({ sign: () => ({ client: 'Client1', nonce: '00', time: '77', signature: 'Sig1' }) });
    await compiles();

    await user.click(screen.getByRole('button', { name: 'Submit the job' }));

    await screen.findByText('Replicas differ.');
    const posted = fetched.mock.calls.filter(([, sent]) => sent?.method === 'POST').map(([address]) => address);
    expect(posted).toEqual(['http://localhost/v1/owner/grant', 'http://localhost/v1/jobs']);
    expect(port.of('sign')[0]?.argument).toBe('Coordinator1 POST /v1/owner/grant\n{"invitation":"weft-00"}');
    expect(window.localStorage.getItem('weft-invitation')).toBeNull();
  });

  it('passes on why the coordinator refuses', async () => {
    vi.stubGlobal('fetch', async () => Response.json({ detail: 'The account holds 1 credit and the budget is 100.' }, { status: 402 }));
    open({ sign: () => ({ client: 'c', nonce: 'n', time: '1', signature: 's' }) });
    await compiles();

    await user.click(screen.getByRole('button', { name: 'Make it a job' }));

    await screen.findByText('The account holds 1 credit and the budget is 100.');
  });
});

describe('the form', () => {
  it('says what does not fit, and does not run it', async () => {
    open();
    await compiles();
    const shape = within(screen.getByTestId('binding-0')).getByLabelText('Shape');

    await user.clear(shape);
    await user.type(shape, '5');

    expect((await within(screen.getByTestId('binding-0')).findByRole('alert')).textContent).toBe('The shape needs 5 numbers; 4 are given.');
    expect(runButton()).toHaveProperty('disabled', true);
  });

  it('keeps what cannot be read as it was typed, and the value as it was', async () => {
    const port = open({ run: () => ran });
    await compiles();
    const workgroups = screen.getByLabelText('Workgroups');

    await user.clear(workgroups);
    await user.type(workgroups, 'many');

    expect(workgroups.getAttribute('aria-invalid')).toBe('true');
    await user.click(runButton());
    expect(JSON.parse(String(port.of('run')[0]?.argument))).toMatchObject({ dispatch: [128, 128, 1] });
  });

  it('adds a binding with the next number, and takes one away', async () => {
    open();

    await user.click(screen.getByRole('button', { name: 'Add a binding' }));
    expect(screen.getByTestId('binding-2')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Remove binding 0' }));

    expect(screen.queryByTestId('binding-0')).toBeNull();
  });
});

describe('the tuner', () => {
  it('measures each choice by its best run, names the fastest, and says which changed the result', async () => {
    const seconds: Record<string, number> = { '1': 0.003, '2': 0.001, '3': 0.0005 };
    const port = open({
      run: (manifest) => {
        const { lanes } = (JSON.parse(manifest) as { constants: { lanes: number } }).constants;
        const bytes = Uint8Array.of(lanes === 3 ? 9 : 1, 0, 0, 0);
        return { ...ran, gpuSeconds: seconds[String(lanes)] ?? 1, outputs: [{ name: 'output0', type: 'u32', shape: [1], bytes }] };
      },
    });
    await user.selectOptions(screen.getByLabelText('Example'), 'Matrix product');
    const choices = within(screen.getByTestId('tuner')).getByLabelText('Choices');
    await user.clear(choices);
    await user.type(choices, '1, 2, 3');
    await compiles();

    await user.click(await screen.findByRole('button', { name: 'Measure 3 choices' }));

    await screen.findByText('lanes 2', { selector: 'strong' });
    expect(screen.getByText('gives other bytes than the first choice')).toBeTruthy();
    expect(port.of('run')).toHaveLength(9);
  });
});
