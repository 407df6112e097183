// The turns of a conversation. While an answer is written the page stays scrolled to the end, unless the reader has scrolled up.
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../../design/Button';
import { formatCredits, formatRate, formatSeconds, plural } from '../../design/format';
import { Notice } from '../../design/Notice';
import type { ToolCall } from './backend';
import type { Turn } from './chat';
import { Markdown } from './Markdown';

const nearPixels = 120;

function useFollow(turns: readonly Turn[]): void {
  const follow = useRef(true);
  useEffect(() => {
    const look = () => {
      const { scrollHeight } = document.documentElement;
      follow.current = scrollHeight - window.scrollY - window.innerHeight < nearPixels;
    };
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, []);
  const last = turns.at(-1);
  useLayoutEffect(() => {
    if (follow.current) window.scrollTo(0, document.documentElement.scrollHeight);
  }, [last]);
}

type OnResult = (turn: number, call: number, result: string) => void;

export function Conversation({ turns, onRegenerate, onResult }: { turns: readonly Turn[]; onRegenerate: (() => void) | null; onResult: OnResult }) {
  useFollow(turns);
  const last = turns.at(-1);
  return (
    <>
      <ol aria-label="Conversation" className="space-y-7" data-testid="conversation">
        {turns.map((turn) => (
          <li key={turn.id} data-role={turn.role} data-state={turn.state} aria-busy={turn.state === 'writing'}>
            {turn.role === 'user' ? <Question text={turn.text} /> : <Answer turn={turn} onRegenerate={turn === last ? onRegenerate : null} onResult={turn === last && onRegenerate !== null ? onResult : null} />}
          </li>
        ))}
      </ol>
      {/* A screen reader reads an answer when it is complete, because every single token would be noise. */}
      <p role="status" className="sr-only">
        {last?.role !== 'assistant' ? '' : last.state === 'writing' ? 'The model is writing.' : last.state === 'written' ? last.text : ''}
      </p>
    </>
  );
}

function Question({ text }: { text: string }) {
  return (
    <div className="ml-auto w-fit max-w-[85%] rounded-md bg-sunk px-4 py-2.5">
      <h2 className="sr-only">You</h2>
      <p className="break-words whitespace-pre-wrap">{text}</p>
    </div>
  );
}

function Answer({ turn, onRegenerate, onResult }: { turn: Turn; onRegenerate: (() => void) | null; onResult: OnResult | null }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(turn.text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <div className="border-l-4 border-weld pl-4">
      <h2 className="sr-only">The model</h2>
      {turn.thought === '' ? null : <Thoughts text={turn.thought} />}
      <div className="break-words" data-testid="answer">
        {turn.text === '' && turn.state === 'writing' ? <p className="animate-[breathe_1.6s_ease-in-out_infinite] text-soft">{turn.thought === '' ? 'Reading…' : 'Thinking…'}</p> : <Said text={turn.text} whole={turn.state === 'written'} />}
        {turn.end?.calls?.map((call, i) => <Call key={i} call={call} result={turn.results[i]} onResult={onResult === null ? null : (result) => onResult(turn.id, i, result)} />)}
      </div>
      {turn.state === 'failed' ? (
        <Notice tone="warn" className="mt-3" title="The answer broke off">
          <p>{turn.failure}</p>
        </Notice>
      ) : null}
      {turn.state === 'writing' ? null : (
        <div className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2 text-sm text-soft">
          {turn.text === '' ? null : (
            <Button look="small" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
          {onRegenerate === null ? null : (
            <Button look="small" onClick={onRegenerate}>
              Answer again
            </Button>
          )}
          <Figures turn={turn} />
        </div>
      )}
    </div>
  );
}

/** Shows a complete answer that is a JSON document as JSON. */
function Said({ text, whole }: { text: string; whole: boolean }) {
  const json = whole ? indented(text) : null;
  return json === null ? <Markdown text={text} /> : <Document text={json} />;
}

function Document({ text }: { text: string }) {
  return (
    <pre tabIndex={0} className="my-3 overflow-x-auto rounded bg-sunk p-3 font-mono text-sm first:mt-0" data-testid="json">
      {text}
    </pre>
  );
}

/** Shows the thoughts of the model folded, separate from its answer. */
function Thoughts({ text }: { text: string }) {
  return (
    <details className="mb-3 text-sm text-soft" data-testid="thoughts">
      <summary className="w-fit rounded py-1 hover:text-ink">Thoughts</summary>
      <p className="mt-1 break-words whitespace-pre-wrap">{text.trim()}</p>
    </details>
  );
}

function Call({ call, result, onResult }: { call: ToolCall; result: string | undefined; onResult: ((result: string) => void) | null }) {
  return (
    <section className="my-3 rounded border border-line px-3 py-2" data-testid="call">
      <h3 className="text-sm text-soft">
        Calls <code className="font-mono text-ink">{call.name}</code> with
      </h3>
      <Document text={indented(call.arguments) ?? call.arguments} />
      {result !== undefined ? (
        <>
          <h4 className="text-sm text-soft">which gives</h4>
          <Document text={indented(result) ?? result} />
        </>
      ) : onResult === null ? null : (
        <ResultForm name={call.name} onResult={onResult} />
      )}
    </section>
  );
}

/** A form in which the visitor enters the result of a tool call, because the page runs no tools. */
function ResultForm({ name, onResult }: { name: string; onResult: (result: string) => void }) {
  const id = useId();
  const [text, setText] = useState('');
  return (
    <form
      className="mb-1 flex flex-wrap items-end gap-2 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        onResult(text);
      }}
    >
      <label htmlFor={id} className="grow">
        What {name} gives
        <input id={id} className="mt-1 w-full rounded border border-line bg-panel px-2.5 py-1.5 font-mono" value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <Button look="small" type="submit">
        Give result
      </Button>
    </form>
  );
}

/** Formats an object or a list as JSON with line breaks. Returns null for any other text. */
export function indented(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function Figures({ turn: { end } }: { turn: Turn }) {
  if (end === null) return null;
  // The first token is not counted, because its time includes reading the question. Tokens of the network arrive in batches, so a rate over
  // less than a few batches would only show how long one message took.
  const rate = end.restMs >= 50 && end.tokens > 1 ? ((end.tokens - 1) * 1000) / end.restMs : 0;
  return (
    <span data-testid="figures" className="tabular-nums">
      {rate > 0 ? `${formatRate(rate)} tokens/s, ` : ''}
      {plural(end.tokens, 'token')}, the first after {formatSeconds(end.firstMs / 1000)}
      {end.stop === 'cancelled' ? '; stopped' : end.stop === 'length' ? '; cut off at the most tokens allowed' : ''}
      {end.cost === undefined ? '' : `; ${formatCredits(end.cost)} credits`}
      {end.served === undefined ? '' : `; by ${end.served}`}
      {end.trust === undefined ? '' : `; ${end.trust}`}
    </span>
  );
}
