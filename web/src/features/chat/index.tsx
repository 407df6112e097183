// The entry point of the chat, which the app loads when the page is opened. It connects the page to models in this tab and on the network.
import { Chat } from './chat';
import { ChatPage } from './ChatPage';
import type { OpenBackend } from './backend';
import { keptConversations } from './conversations';
import { localShelf, openLocal } from './localBackend';
import { modelOfSource, NetworkBackend, servedModels } from './networkBackend';

const open: OpenBackend = async (source, options) => {
  const model = modelOfSource(source);
  if (model === null) return openLocal(source, options);
  const served = await servedModels.list().catch(() => []);
  return new NetworkBackend(model, served.find(({ name }) => name === model)?.price);
};

/** Makes the page with one conversation, which lasts as long as the app is open. */
export function createChatPage() {
  const chat = new Chat(open, keptConversations(window.localStorage));
  return function LocalChatPage() {
    return <ChatPage chat={chat} shelf={localShelf} served={servedModels} />;
  };
}
