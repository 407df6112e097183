// The fields of the forms. Each has a label for screen readers; `hidden` hides it from view.
import { useEffect, useId, useState, type ReactNode } from 'react';

const box = 'h-9 rounded border border-line bg-panel px-2.5 py-1.5 text-sm text-ink hover:border-soft aria-[invalid=true]:border-madder';

function Labelled({ label, hidden, id, children, className = '' }: { label: string; hidden?: boolean | undefined; id: string; children: ReactNode; className?: string | undefined }) {
  return (
    <div className={className}>
      <label htmlFor={id} className={hidden ? 'sr-only' : 'mb-1 block text-xs text-soft'}>
        {label}
      </label>
      {children}
    </div>
  );
}

type Common = { readonly label: string; readonly hidden?: boolean; readonly className?: string };

export function Select({ label, hidden, value, options, onChange, className }: Common & { value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <Labelled label={label} hidden={hidden} id={id} className={className}>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)} className={`${box} w-full`}>
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

export function TextField({ label, hidden, value, onChange, className, mono = true, invalid, placeholder }: Common & { value: string; onChange: (value: string) => void; mono?: boolean; invalid?: boolean; placeholder?: string }) {
  const id = useId();
  return (
    <Labelled label={label} hidden={hidden} id={id} className={className}>
      <input
        id={id}
        type="text"
        value={value}
        spellCheck={false}
        autoComplete="off"
        placeholder={placeholder}
        aria-invalid={invalid}
        onChange={(event) => onChange(event.target.value)}
        className={`${box} w-full ${mono ? 'font-mono text-[0.8rem]' : ''}`}
      />
    </Labelled>
  );
}

/** A text field for a value. The text stays as it was typed, and the value changes when the text can be read. */
export function ParsedField<Value>({ value, format, parse, onChange, ...rest }: Common & { value: Value; format: (value: Value) => string; parse: (text: string) => Value | null; onChange: (value: Value) => void; placeholder?: string }) {
  const [typed, setTyped] = useState(() => format(value));
  const shown = format(value);
  useEffect(() => {
    // The value was changed by an example or a link, not by typing.
    setTyped((before) => {
      const read = parse(before);
      return read !== null && format(read) === shown ? before : shown;
    });
  }, [shown]);
  return (
    <TextField
      {...rest}
      value={typed}
      invalid={parse(typed) === null}
      onChange={(text) => {
        setTyped(text);
        const read = parse(text);
        if (read !== null) onChange(read);
      }}
    />
  );
}

export function parseNumber(text: string): number | null {
  const value = text.trim() === '' ? NaN : Number(text.replaceAll(',', ''));
  return Number.isFinite(value) ? value : null;
}
export function parseWhole(text: string): number | null {
  const value = parseNumber(text);
  return value !== null && Number.isInteger(value) ? value : null;
}
/** Reads a list of numbers: "1024 × 1024", "1024x1024" or "1024, 1024". */
export function parseList(text: string): readonly number[] | null {
  const words = text.split(/[\s,×x*]+/).filter((word) => word !== '');
  const numbers = words.map(Number);
  return words.length > 0 && numbers.every((one) => Number.isFinite(one)) ? numbers : null;
}

export function NumberField({ value, onChange, whole = false, ...rest }: Common & { value: number; onChange: (value: number) => void; whole?: boolean }) {
  return <ParsedField {...rest} value={value} format={String} parse={whole ? parseWhole : parseNumber} onChange={onChange} />;
}
