// The field for the next question. Enter sends it, Shift and Enter begin a new line, Escape stops the answer.
import { useId, useState, type FormEvent, type KeyboardEvent } from 'react';
import { Button } from '../../design/Button';

type Props = { readonly ready: boolean; readonly writing: boolean; readonly onSend: (text: string) => void; readonly onStop: () => void };

export function Composer({ ready, writing, onSend, onStop }: Props) {
  const id = useId();
  const [text, setText] = useState('');
  const send = () => {
    if (!ready || writing || text.trim() === '') return;
    onSend(text);
    setText('');
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const press = (event: KeyboardEvent) => {
    // While an input method composes a word (Japanese, Chinese), Enter belongs to the input method.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'Escape' && writing) {
      onStop();
    }
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <label htmlFor={id} className="sr-only">
        Message
      </label>
      <textarea
        id={id}
        rows={1}
        className="field-sizing-content max-h-[40dvh] min-h-[3.25rem] min-w-0 grow resize-none rounded-md border border-line bg-panel px-3.5 py-3 placeholder:text-soft"
        placeholder="Ask something"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
      />
      {writing ? (
        <Button className="h-[3.25rem]" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button type="submit" className="h-[3.25rem]" disabled={!ready || text.trim() === ''}>
          Send
        </Button>
      )}
    </form>
  );
}
