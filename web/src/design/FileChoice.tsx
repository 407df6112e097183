import type { RefObject } from 'react';

/** An invisible file input for a button that clicks it. The same file can be chosen twice. */
export function FileChoice({ input, accept, label, onFile }: { input: RefObject<HTMLInputElement | null>; accept: string; label: string; onFile: (file: File) => void }) {
  return (
    <input
      ref={input}
      type="file"
      accept={accept}
      aria-label={label}
      className="sr-only"
      tabIndex={-1}
      onChange={(event) => {
        const file = event.target.files?.[0];
        event.target.value = '';
        if (file !== undefined) onFile(file);
      }}
    />
  );
}
