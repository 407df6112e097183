// Tests the stored conversations: their size is bounded, the latest is first, and unreadable entries do no harm.
import { beforeEach, describe, expect, it } from 'vitest';
import { charactersMost, conversationsMost, exported, keptConversations, titleOf } from './conversations';

const turns = (text: string) => [{ role: 'user', text } as const, { role: 'assistant', text: 'Yes.' } as const];

describe('kept conversations', () => {
  beforeEach(() => localStorage.clear());

  it('come back the latest first, change in place, and are forgotten', () => {
    let time = 0;
    const kept = keptConversations(localStorage, () => ++time);
    const first = kept.put('', 'tiny', turns('One?'));
    const second = kept.put('', 'tiny', turns('Two?'));
    expect(kept.list().map(titleOf)).toEqual(['Two?', 'One?']);
    expect(kept.put(first, 'other', [...turns('One?'), ...turns('More?')])).toBe(first);
    expect(keptConversations(localStorage).list().map(({ id }) => id)).toEqual([first, second]);
    expect(kept.get(first)).toMatchObject({ model: 'other', turns: { length: 4 } });
    kept.remove(first);
    expect(kept.list().map(({ id }) => id)).toEqual([second]);
    kept.remove(second);
    expect(localStorage.length).toBe(0);
  });

  it('are so many and so long at most', () => {
    const kept = keptConversations(localStorage);
    for (let i = 0; i < conversationsMost + 3; i += 1) kept.put('', 'tiny', turns(`${i}`));
    expect(kept.list()).toHaveLength(conversationsMost);
    expect(kept.list().map(titleOf)).not.toContain('0');
    kept.put('', 'tiny', turns('x'.repeat(charactersMost / 2)));
    kept.put('', 'tiny', turns('y'.repeat(charactersMost / 2)));
    expect(kept.list()).toHaveLength(1);
    expect(titleOf(kept.list()[0]!)).toHaveLength(80);
  });

  it('are passed over where they cannot be read, and a full browser is no failure', () => {
    for (const text of ['{', '7', '[{"id":1}]', '[{"id":"a","model":"m","at":1,"turns":[null]}]']) {
      localStorage.setItem('weft-conversations', text);
      expect(keptConversations(localStorage).list()).toEqual([]);
    }
    const full = { getItem: () => null, removeItem: () => {}, setItem: () => { throw new Error('full'); } };
    expect(keptConversations(full).put('', 'tiny', turns('One?'))).not.toBe('');
  });

  it('are exported as messages', () => {
    expect(JSON.parse(exported('tiny', turns('One?')))).toEqual({ model: 'tiny', messages: [{ role: 'user', content: 'One?' }, { role: 'assistant', content: 'Yes.' }] });
  });
});
