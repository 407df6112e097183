// The chat page: choose a language model and talk to it.
import { useSyncExternalStore } from 'react';
import { Button } from '../../design/Button';
import type { ServedModels, Shelf } from './backend';
import type { Chat } from './chat';
import { ChatSettings } from './ChatSettings';
import { Composer } from './Composer';
import { Conversation } from './Conversation';
import { exported, save } from './conversations';
import { EarlierConversations } from './EarlierConversations';
import { ModelPicker } from './ModelPicker';

export function ChatPage({ chat, shelf, served }: { chat: Chat; shelf: Shelf; served?: ServedModels }) {
  const { model, turns, settings } = useSyncExternalStore(chat.subscribe, chat.snapshot);
  const writing = turns.at(-1)?.state === 'writing';
  if (model.state !== 'ready') {
    return (
      <main className="pt-8 pb-4 lg:pt-14">
        <ModelPicker model={model} shelf={shelf} {...(served === undefined ? {} : { served })} onOpen={(source, name) => void chat.open(source, name)} onCancel={() => void chat.close()} />
        {model.state === 'opening' ? null : <EarlierConversations chat={chat} />}
      </main>
    );
  }
  return (
    <main className="mx-auto flex min-h-[calc(100dvh-5.5rem)] max-w-[48rem] flex-col">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 border-b border-line pb-4">
        <div className="min-w-0">
          <h1 className="text-2xl font-semibold tracking-tight break-words" data-testid="model">
            {model.name}
          </h1>
          <p className="text-sm text-soft" data-testid="place">
            {model.place}
          </p>
        </div>
        <div className="flex flex-wrap gap-2">
          <Button look="small" disabled={turns.length === 0 || writing} onClick={() => save(exported(model.name, turns))}>
            Export
          </Button>
          <Button look="small" disabled={turns.length === 0} onClick={() => chat.clear()}>
            New conversation
          </Button>
          <Button look="small" onClick={() => void chat.close()}>
            Other model
          </Button>
        </div>
      </div>
      <div className="grow py-8">
        {turns.length === 0 ? (
          <>
            <p className="text-soft">The model is ready. What it says is its own and may be wrong.</p>
            <EarlierConversations chat={chat} onOpen={(id) => chat.resume(id)} />
          </>
        ) : null}
        <Conversation turns={turns} onRegenerate={writing ? null : () => void chat.regenerate()} onResult={(turn, call, result) => void chat.giveResult(turn, call, result)} />
      </div>
      <div className="sticky bottom-0 -mx-5 bg-ground px-5 pt-2 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:mx-0 sm:px-0">
        <ChatSettings settings={settings} network={model.network} onChange={(changes) => chat.change(changes)} />
        <Composer ready writing={writing} onSend={(text) => void chat.send(text)} onStop={() => chat.stop()} />
      </div>
    </main>
  );
}
