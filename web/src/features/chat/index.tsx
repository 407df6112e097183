// What the app loads when the chat is opened: everything above, wired to models in this tab and on the network.
import { Chat } from './chat';
import { ChatPage } from './ChatPage';
import type { OpenBackend } from './backend';
import { localShelf, openLocal } from './localBackend';
import { modelOfSource, NetworkBackend, servedModels } from './networkBackend';

const open: OpenBackend = async (source, options) => {
  const model = modelOfSource(source);
  return model === null ? openLocal(source, options) : new NetworkBackend(model);
};

/** One conversation for as long as the app is open. */
export function createChatPage() {
  const chat = new Chat(open);
  return function LocalChatPage() {
    return <ChatPage chat={chat} shelf={localShelf} served={servedModels} />;
  };
}
