// The list of conversations that this browser has stored: to continue, to save as a file, or to delete.
import { Button } from '../../design/Button';
import type { Chat } from './chat';
import { exported, save, titleOf } from './conversations';

/** `onOpen` is absent while there is no model that could continue a conversation. */
export function EarlierConversations({ chat, onOpen }: { chat: Chat; onOpen?: (id: string) => void }) {
  const kept = chat.conversations?.list() ?? [];
  if (kept.length === 0) return null;
  return (
    <section aria-labelledby="earlier-title" className="mt-8 max-w-[44rem]" data-testid="earlier">
      <h2 id="earlier-title" className="text-xl font-semibold tracking-tight">
        Earlier conversations
      </h2>
      <p className="mt-1 text-sm text-soft">They are kept in this browser and nowhere else.{onOpen === undefined ? ' Choose a model to go on with one.' : ''}</p>
      <ul className="mt-3 divide-y divide-line border-y border-line">
        {kept.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-2 py-2.5">
            <span className="min-w-0 grow basis-48">
              <span className="block truncate font-medium">{titleOf(one)}</span>
              <span className="block text-sm text-soft">
                {one.model === '' ? '' : `${one.model}, `}
                {new Date(one.at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' })}
              </span>
            </span>
            {onOpen === undefined ? null : (
              <Button look="small" aria-label={`Open ${titleOf(one)}`} onClick={() => onOpen(one.id)}>
                Open
              </Button>
            )}
            <Button look="small" aria-label={`Export ${titleOf(one)}`} onClick={() => save(exported(one.model, one.turns))}>
              Export
            </Button>
            <Button look="small" aria-label={`Remove ${titleOf(one)}`} onClick={() => chat.forget(one.id)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
