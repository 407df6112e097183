import { useId } from 'react';
import type { Settings } from './chat';
import { readTools } from './tools';

/** The settings of the next answers; a change does not affect an answer in progress. */
export function ChatSettings({ settings, network, onChange }: { settings: Settings; network: boolean; onChange: (settings: Partial<Settings>) => void }) {
  const id = useId();
  const field = 'mt-1 w-full rounded border border-line bg-panel px-2.5 py-1.5';
  return (
    <details className="text-sm">
      <summary className="w-fit rounded py-1 text-soft hover:text-ink">Settings</summary>
      <div className="mt-2 grid gap-3 pb-3 sm:grid-cols-2">
        <label className="sm:col-span-2" htmlFor={`${id}-system`}>
          Instructions that stand before the conversation
          <textarea id={`${id}-system`} rows={2} className={field} value={settings.system} onChange={(event) => onChange({ system: event.target.value })} />
        </label>
        <label htmlFor={`${id}-temperature`}>
          Temperature (0: always the likeliest word)
          <input
            id={`${id}-temperature`}
            type="number"
            min={0}
            max={2}
            step={0.1}
            className={field}
            value={settings.temperature}
            onChange={(event) => onChange({ temperature: clamp(event.target.valueAsNumber, 0, 2, settings.temperature) })}
          />
        </label>
        <label htmlFor={`${id}-tokens`}>
          Most tokens of an answer
          <input
            id={`${id}-tokens`}
            type="number"
            min={1}
            max={32768}
            className={field}
            value={settings.maxTokens}
            onChange={(event) => onChange({ maxTokens: Math.round(clamp(event.target.valueAsNumber, 1, 32768, settings.maxTokens)) })}
          />
        </label>
        {network ? (
          <label htmlFor={`${id}-json`} className="flex items-center gap-2 sm:col-span-2">
            <input id={`${id}-json`} type="checkbox" className="size-4 accent-weld" checked={settings.json} onChange={(event) => onChange({ json: event.target.checked })} />
            Answers are JSON objects
          </label>
        ) : null}
        {network ? <Tools id={`${id}-tools`} field={field} text={settings.tools} onChange={(tools) => onChange({ tools })} /> : null}
      </div>
    </details>
  );
}

function Tools({ id, field, text, onChange }: { id: string; field: string; text: string; onChange: (text: string) => void }) {
  const { failure } = readTools(text);
  return (
    <label className="sm:col-span-2" htmlFor={id}>
      Tools that the model may call (a list as OpenAI&apos;s clients send it)
      <textarea
        id={id}
        rows={3}
        spellCheck={false}
        className={`${field} font-mono`}
        placeholder={'[{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]'}
        value={text}
        aria-invalid={failure !== null}
        onChange={(event) => onChange(event.target.value)}
      />
      {failure === null ? null : <span className="mt-1 block">{failure}</span>}
    </label>
  );
}

function clamp(value: number, least: number, most: number, otherwise: number): number {
  return Number.isNaN(value) ? otherwise : Math.min(most, Math.max(least, value));
}
