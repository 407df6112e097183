// Tests the chat as a visitor uses it, with a fake model and the real store.
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeBackend, whole } from '../../../test/FakeBackend';
import { BackendGone, type KeptModel, type OpenBackend, type Shelf } from './backend';
import { Chat } from './chat';
import { ChatPage } from './ChatPage';
import { exported, keptConversations } from './conversations';

beforeEach(() => {
  vi.stubGlobal('scrollTo', () => {});
});

type Opened = Parameters<OpenBackend>[1] & { source: string | File; resolve: (backend: FakeBackend) => void; reject: (error: Error) => void };

const settle = () => act(() => new Promise<void>((resolve) => setTimeout(resolve, 60)));

function open(kept: readonly KeptModel[] = []) {
  const backend = new FakeBackend();
  const opened: Opened[] = [];
  const openBackend: OpenBackend = (source, { signal, onProgress }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('Loading the model was cancelled.')));
      opened.push({ source, signal, onProgress, resolve, reject });
    });
  const removed: string[] = [];
  const shelf: Shelf = {
    list: async () => kept.filter(({ key }) => !removed.includes(key)),
    remove: async (key) => {
      removed.push(key);
    },
  };
  const chat = new Chat(openBackend);
  render(<ChatPage chat={chat} shelf={shelf} />);
  const last = () => {
    const one = opened.at(-1);
    if (one === undefined) throw new Error('Nothing was opened.');
    return one;
  };
  const ready = async () => {
    void chat.open('/m.gguf', 'm.gguf');
    await settle();
    last().resolve(backend);
    await settle();
  };
  return { chat, backend, opened, last, removed, ready };
}

const press = (name: string | RegExp) => userEvent.click(screen.getByRole('button', { name }));
async function ask(text: string) {
  await userEvent.type(screen.getByLabelText('Message'), `${text}{Enter}`);
}
const answers = () => screen.getAllByTestId('answer');

describe('what the network offers', () => {
  it('stands first, with state and price, and its answers say who gave them, what they cost and what they call', async () => {
    const backend = new FakeBackend();
    const chat = new Chat(async () => Object.assign(backend, { network: true }), keptConversations(localStorage));
    const served = { list: async () => [{ name: 'tiny', state: 'ready', shards: 2, price: 7, context: 512 }] };
    render(<ChatPage chat={chat} shelf={{ list: async () => [], remove: async () => {} }} served={served} />);
    await settle();
    const [first, second] = screen.getAllByRole('heading', { level: 2 });
    expect([first?.textContent, second?.textContent]).toEqual(['Served by the network', 'Or in this tab']);
    expect(screen.getByTestId('served').textContent).toContain('ready on 2 workers; 0.000007 credits for 1,000 tokens; reads up to 512 tokens');

    await press('Talk to tiny');
    await settle();
    await userEvent.click(screen.getByText('Settings'));
    await userEvent.click(screen.getByLabelText('Answers are JSON objects'));
    await ask('Where?');
    await settle();
    expect(backend.options.at(-1)?.json).toBe(true);
    backend.say('{"city":"Tokyo"}');
    backend.say({ ...whole, cost: 31, served: 'worker A', trust: 'verified: another worker drew its tokens again', calls: [{ name: 'look_up', arguments: '{"city":"Tokyo"}' }] });
    await settle();
    const [said, call] = screen.getAllByTestId('json');
    expect(said?.textContent).toBe('{\n  "city": "Tokyo"\n}');
    expect(screen.getByTestId('call').textContent).toContain('Calls look_up with');
    expect(call?.textContent).toBe('{\n  "city": "Tokyo"\n}');
    expect(screen.getByTestId('figures').textContent).toContain('; 0.000031 credits; by worker A; verified: another worker drew its tokens again');

    // The conversation is stored, and it continues after a reload.
    expect(keptConversations(localStorage).list()).toMatchObject([{ turns: [{ text: 'Where?' }, { text: '{"city":"Tokyo"}' }] }]);
    await press('New conversation');
    await settle();
    await press('Open Where?');
    await settle();
    expect(answers()).toHaveLength(1);
    chat.forget(keptConversations(localStorage).list()[0]?.id ?? '');
    expect(keptConversations(localStorage).list()).toEqual([]);
  });
});

describe('tools of the network', () => {
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
  const calls = [
    { id: 'a1', name: 'look_up', arguments: '{"city":"Tokyo"}' },
    { id: 'b2', name: 'look_up', arguments: '{"city":"Rome"}' },
  ];

  async function talk() {
    const backend = Object.assign(new FakeBackend(), { network: true });
    const chat = new Chat(async () => backend, keptConversations(localStorage));
    render(<ChatPage chat={chat} shelf={{ list: async () => [], remove: async () => {} }} />);
    await act(() => chat.open('network:tiny', 'tiny'));
    return { backend, chat };
  }
  const give = async (at: number, result: string) => {
    fireEvent.change(screen.getAllByLabelText('What look_up gives')[at] as HTMLElement, { target: { value: result } });
    await userEvent.click(screen.getAllByRole('button', { name: 'Give result' })[at] as HTMLElement);
    await settle();
  };

  it('are offered, and an answer goes on when each of its calls has its result', async () => {
    localStorage.clear();
    const { backend } = await talk();
    await userEvent.click(screen.getByText('Settings'));
    const field = screen.getByLabelText(/^Tools that the model may call/);
    fireEvent.change(field, { target: { value: '{"a":' } });
    expect(screen.getByText(/^No tools are offered: /)).toBeTruthy();
    fireEvent.change(field, { target: { value: '[{"type":"function"}]' } });
    expect(screen.getByText('No tools are offered: number 1 has no function.name.')).toBeTruthy();
    fireEvent.change(field, { target: { value: JSON.stringify(tools) } });
    await ask('Where?');
    expect(backend.options.at(-1)?.tools).toEqual(tools);
    backend.say({ ...whole, calls });
    await settle();

    await give(1, 'Italy');
    expect(backend.asked).toHaveLength(1);
    await give(0, '{"country":"Japan"}');
    expect(backend.asked.at(-1)).toEqual([
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: '', tool_calls: calls.map(({ id, ...call }) => ({ id, type: 'function', function: call })) },
      { role: 'tool', tool_call_id: 'a1', content: '{"country":"Japan"}' },
      { role: 'tool', tool_call_id: 'b2', content: 'Italy' },
    ]);
    backend.say('In Japan and in Italy.');
    backend.say(whole);
    await settle();
    expect(screen.getAllByTestId('call')[0]?.textContent).toContain('which gives{\n  "country": "Japan"\n}');
    expect(screen.queryByRole('button', { name: 'Give result' })).toBeNull();
    // Thoughts, calls and results are stored and exported.
    const [kept] = keptConversations(localStorage).list();
    expect(JSON.parse(exported('tiny', kept?.turns ?? [])).messages).toEqual([...(backend.asked.at(-1) ?? []), { role: 'assistant', content: 'In Japan and in Italy.' }]);
  });

  it('are passed over where a call has no result, and thoughts stand apart', async () => {
    localStorage.clear();
    const { backend, chat } = await talk();
    await ask('Where?');
    backend.say({ thought: 'So, ' });
    backend.say({ thought: 'Japan.' });
    await settle();
    expect(screen.getByTestId('thoughts').textContent).toContain('So, Japan.');
    expect(answers()[0]?.textContent).toBe('Thinking…');
    backend.say('I look.');
    backend.say({ ...whole, calls });
    await settle();
    expect(answers()[0]?.textContent).not.toContain('So, Japan.');
    await ask('Well?');
    expect(backend.asked.at(-1)).toEqual([{ role: 'user', content: 'Where?' }, { role: 'assistant', content: 'I look.' }, { role: 'user', content: 'Well?' }]);
    chat.stop();
    await settle();
  });
});

describe('before there is a model', () => {
  it('opens an address, shows how far it is, and gives it up at a click', async () => {
    const { last } = open();
    await userEvent.type(screen.getByLabelText('Or its address'), 'https://example.org/models/tiny.gguf?x=1{Enter}');
    expect(last().source).toBe('https://example.org/models/tiny.gguf?x=1');
    expect(screen.getByRole('heading').textContent).toBe('tiny.gguf');

    act(() => last().onProgress({ phase: 'download', loaded: 1 << 20, total: 4 << 20 }));
    expect(screen.getByTestId('phase').textContent).toBe('Downloading: 1 MiB of 4 MiB');
    expect(screen.getByRole('progressbar')).toHaveProperty('value', 0.25);

    await press('Cancel');
    expect(last().signal.aborted).toBe(true);
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.getByLabelText('Or its address')).toBeTruthy();
  });

  it('takes a chosen and a dropped file', async () => {
    const { opened, chat } = open();
    const file = new File(['GGUF'], 'a.gguf');
    await userEvent.upload(screen.getByLabelText('Model file'), file);
    expect(opened[0]?.source).toBe(file);
    await act(() => chat.close());

    const dropped = new File(['GGUF'], 'b.gguf');
    fireEvent.drop(screen.getByTestId('drop'), { dataTransfer: { files: [dropped] } });
    await settle();
    expect(opened[1]?.source).toBe(dropped);
  });

  it('says in one sentence why a model cannot be loaded', async () => {
    const { last, chat } = open();
    void chat.open('/m.gguf', 'm.gguf');
    await settle();
    await act(async () => last().reject(new Error("The file begins with 0x54686973, not with 'GGUF'.")));

    expect(screen.getByRole('alert').textContent).toContain("The file begins with 0x54686973, not with 'GGUF'.");
  });

  it('lists what the browser keeps, loads it and removes it', async () => {
    const url = 'https://example.org/tiny.gguf';
    const { opened, removed } = open([{ key: 'k', url, bytes: 6 << 20, complete: true }, { key: 'p', url: 'https://example.org/part.gguf', bytes: 1 << 30, complete: false }]);
    await settle();
    expect(screen.getByText('1 GiB, not all of it yet')).toBeTruthy();

    await press('Remove part.gguf');
    await settle();
    expect(removed).toEqual(['p']);
    expect(screen.queryByText(/not all of it yet/)).toBeNull();
    await press('Load tiny.gguf');
    expect(opened[0]?.source).toBe(url);
  });
});

describe('a conversation', () => {
  it('streams the answer as Markdown and shows how fast it was', async () => {
    const { backend, ready } = open();
    await ready();
    await ask('Hello');
    expect(screen.getByText('The model is writing.')).toBeTruthy();

    backend.say('Tokyo is the **cap');
    await settle();
    expect(answers()[0]?.textContent).toBe('Tokyo is the **cap');
    backend.say('ital**.\n\n| a | b |\n|---|---|\n| 1 | 2 |');
    backend.say(whole);
    await settle();

    const answer = answers()[0] as HTMLElement;
    expect(within(answer).getByText('capital').tagName).toBe('STRONG');
    expect(within(answer).getByRole('table')).toBeTruthy();
    expect(screen.getByTestId('figures').textContent).toBe('40 tokens/s, 5 tokens, the first after 120 ms');
    expect(backend.asked).toEqual([[{ role: 'user', content: 'Hello' }]]);
  });

  it('shows what a model writes as text: no HTML, no pictures fetched, no scripts behind links', async () => {
    const { backend, ready } = open();
    await ready();
    await ask('Attack');
    backend.say('<img src=x onerror="alert(1)"><script>alert(2)</script> ![leak](https://example.org/?q=secret) [click](javascript:alert(3)) [fine](https://example.org/)');
    backend.say(whole);
    await settle();

    const answer = answers()[0] as HTMLElement;
    expect(answer.querySelectorAll('img, script')).toHaveLength(0);
    expect(answer.textContent).toContain('<img src=x');
    expect([...answer.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual(['', 'https://example.org/']);
    expect(answer.querySelectorAll('a')[1]?.rel).toContain('noopener');
  });

  it('stops with the button and with Escape, and goes on with what was said', async () => {
    const { backend, ready } = open();
    await ready();
    await ask('One');
    backend.say('A long');
    await press('Stop');
    await settle();
    expect(screen.getByTestId('figures').textContent).toContain('stopped');

    await ask('Two');
    await userEvent.type(screen.getByLabelText('Message'), '{Escape}');
    await settle();
    expect(backend.asked[1]).toEqual([{ role: 'user', content: 'One' }, { role: 'assistant', content: 'A long' }, { role: 'user', content: 'Two' }]);
    expect(screen.getByRole('button', { name: 'Send' })).toBeTruthy();
  });

  it('answers the last question again, with the instructions in front', async () => {
    const { backend, ready, chat } = open();
    await ready();
    await ask('One');
    backend.say('First.');
    backend.say(whole);
    await settle();
    act(() => chat.change({ system: 'Be brief.' }));

    await press('Answer again');
    backend.say('Second.');
    backend.say(whole);
    await settle();

    expect(answers().map((one) => one.textContent)).toEqual(['Second.']);
    expect(backend.asked[1]).toEqual([{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'One' }]);
    await press('New conversation');
    expect(screen.queryByTestId('answer')).toBeNull();
  });

  it('says what broke an answer off, and lets the model go when it is gone', async () => {
    const { backend, ready } = open();
    await ready();
    await ask('One');
    backend.say('Some');
    backend.say(new Error('The prompt has 600 tokens.'));
    await settle();
    expect(screen.getByRole('alert').textContent).toContain('The prompt has 600 tokens.');

    await press('Answer again');
    backend.say(new BackendGone('The GPU was lost: reset.'));
    await settle();
    expect(screen.getByRole('alert').textContent).toContain('The GPU was lost: reset.');
    expect(backend.closed).toBe(true);
    expect(screen.getByLabelText('Or its address')).toBeTruthy();
  });

  it('keeps what is typed to itself while the model writes, and lets Shift and Enter begin a line', async () => {
    const { backend, ready } = open();
    await ready();
    await ask('One');
    await userEvent.type(screen.getByLabelText('Message'), 'a{Shift>}{Enter}{/Shift}b{Enter}');

    expect(screen.getByLabelText('Message')).toHaveProperty('value', 'a\nb');
    expect(backend.asked).toHaveLength(1);
  });
});
