// What the app loads when somebody goes to the chat: everything above, wired to models in this tab.
import { Chat } from './chat';
import { ChatPage } from './ChatPage';
import { localShelf, openLocal } from './localBackend';

/** One conversation for as long as the app is open. */
export function createChatPage() {
  const chat = new Chat(openLocal);
  return function LocalChatPage() {
    return <ChatPage chat={chat} shelf={localShelf} />;
  };
}
