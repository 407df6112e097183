// Chooses a model: drop a file, select one, enter an address, or take one that this browser has stored. It then shows the progress.
import { useCallback, useEffect, useId, useRef, useState, type DragEvent, type FormEvent } from 'react';
import { Button } from '../../design/Button';
import { FileChoice } from '../../design/FileChoice';
import { formatBytes, formatCredits } from '../../design/format';
import { Notice } from '../../design/Notice';
import type { KeptModel, OpenProgress, ServedModel, ServedModels, Shelf } from './backend';
import type { ModelState } from './chat';
import { networkSource } from './networkBackend';

const phases: Record<OpenProgress['phase'], string> = { download: 'Downloading', cache: 'Found in this browser', weights: 'Loading the weights' };

export function nameOfAddress(address: string): string {
  const last = address.split(/[?#]/)[0]?.split('/').at(-1);
  return last === undefined || last === '' ? address : last;
}

type Props = {
  readonly model: Exclude<ModelState, { state: 'ready' }>;
  readonly shelf: Shelf;
  readonly served?: ServedModels;
  readonly onOpen: (source: string | File, name: string) => void;
  readonly onCancel: () => void;
};

export function ModelPicker({ model, shelf, served, onOpen, onCancel }: Props) {
  const models = useServed(served);
  if (model.state === 'opening') return <Opening name={model.name} progress={model.progress} onCancel={onCancel} />;
  const here = 'Give it a GGUF file. The model runs on this machine, on its GPU where the browser offers one, and nothing that you write leaves it.';
  return (
    <div className="max-w-[44rem]">
      <h1 className="max-w-[16ch] text-[2.5rem] leading-[1.06] font-semibold tracking-[-0.03em] sm:text-5xl">
        {models.length > 0 ? 'Talk to a model.' : 'Talk to a model in this tab.'}
      </h1>
      {models.length > 0 ? null : <p className="mt-4 max-w-[52ch] text-lg text-soft">{here}</p>}
      {model.failure === null ? null : (
        <Notice tone="warn" className="mt-6" title="There is no model now">
          <p>{model.failure}</p>
        </Notice>
      )}
      {models.length === 0 ? null : (
        <>
          <NetworkModels models={models} onOpen={(name) => onOpen(networkSource(name), name)} />
          <h2 className="mt-12 text-xl font-semibold tracking-tight">Or in this tab</h2>
          <p className="mt-1 text-sm text-soft">{here}</p>
        </>
      )}
      <FileDrop onFile={(file) => onOpen(file, file.name)} />
      <AddressForm onAddress={(address) => onOpen(address, nameOfAddress(address))} />
      <KeptModels shelf={shelf} onOpen={(url) => onOpen(url, nameOfAddress(url))} />
    </div>
  );
}

function FileDrop({ onFile }: { onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file !== undefined) onFile(file);
  };
  return (
    <div
      data-testid="drop"
      className={`mt-8 rounded-md border-2 border-dashed px-5 py-8 text-center transition-colors ${over ? 'border-weld bg-panel' : 'border-line'}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <p className="text-soft">Drop a .gguf file here, or</p>
      <Button look="primary" className="mt-3" onClick={() => input.current?.click()}>
        Choose a file
      </Button>
      <FileChoice input={input} accept=".gguf" label="Model file" onFile={onFile} />
    </div>
  );
}

function AddressForm({ onAddress }: { onAddress: (address: string) => void }) {
  const id = useId();
  const [address, setAddress] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (address.trim() !== '') onAddress(address.trim());
  };
  return (
    <form onSubmit={submit} className="mt-6">
      <label htmlFor={id} className="font-medium">
        Or its address
      </label>
      <div className="mt-1.5 flex flex-wrap gap-2 sm:flex-nowrap">
        <input
          id={id}
          type="text"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          placeholder="https://…/model.gguf"
          className="min-w-0 grow basis-60 rounded-md border border-line bg-panel px-3.5 py-3 placeholder:text-soft"
          value={address}
          onChange={(event) => setAddress(event.target.value)}
        />
        <Button type="submit" disabled={address.trim() === ''}>
          Load
        </Button>
      </div>
      <p className="mt-1.5 text-sm text-soft">It is downloaded once and kept in this browser. The other server has to allow it.</p>
    </form>
  );
}

function KeptModels({ shelf, onOpen }: { shelf: Shelf; onOpen: (url: string) => void }) {
  const [kept, setKept] = useState<readonly KeptModel[]>([]);
  const [failure, setFailure] = useState('');
  const look = useCallback(() => {
    shelf.list().then(setKept, () => setKept([]));
  }, [shelf]);
  useEffect(look, [look]);
  if (kept.length === 0) return null;
  const remove = (key: string) => {
    shelf.remove(key).then(
      () => setFailure(''),
      () => setFailure('Another tab is using this model.'),
    ).finally(look);
  };
  return (
    <section aria-labelledby="kept-title" className="mt-8">
      <h2 id="kept-title" className="text-xl font-semibold tracking-tight">
        Kept in this browser
      </h2>
      <ul className="mt-3 divide-y divide-line border-y border-line">
        {kept.map(({ key, url, bytes, complete }) => (
          <li key={key} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-2.5">
            <span className="min-w-0 grow basis-48">
              <span className="block truncate font-medium" title={url}>
                {nameOfAddress(url)}
              </span>
              <span className="block text-sm text-soft">
                {formatBytes(bytes)}
                {complete ? '' : ', not all of it yet'}
              </span>
            </span>
            <Button look="small" aria-label={`Load ${nameOfAddress(url)}`} onClick={() => onOpen(url)}>
              {complete ? 'Load' : 'Continue'}
            </Button>
            <Button look="small" aria-label={`Remove ${nameOfAddress(url)}`} onClick={() => remove(key)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <p role="status" className="mt-2 text-sm text-madder">
        {failure}
      </p>
    </section>
  );
}

function useServed(served: ServedModels | undefined): readonly ServedModel[] {
  const [models, setModels] = useState<readonly ServedModel[]>([]);
  useEffect(() => {
    if (served === undefined) return;
    const look = () => void served.list().then(setModels, () => setModels([]));
    look();
    const timer = setInterval(look, 3000);
    return () => clearInterval(timer);
  }, [served]);
  return models;
}

function NetworkModels({ models, onOpen }: { models: readonly ServedModel[]; onOpen: (name: string) => void }) {
  return (
    <section aria-labelledby="served-title" className="mt-8" data-testid="served">
      <h2 id="served-title" className="text-xl font-semibold tracking-tight">
        Served by the network
      </h2>
      <p className="mt-1 text-sm text-soft">The contributors' machines answer, and their owners can read what you write.</p>
      <ul className="mt-3 divide-y divide-line border-y border-line">
        {models.map(({ name, state, shards, price, context }) => (
          <li key={name} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-2.5">
            <span className="min-w-0 grow basis-48">
              <span className="block truncate font-medium">{name}</span>
              <span className="block text-sm text-soft">
                {state === 'ready' ? (shards === 1 ? 'ready on one worker' : `ready on ${shards} workers`) : state}; {formatCredits(price)} credits for 1,000 tokens; reads up to {context.toLocaleString('en')} tokens
              </span>
            </span>
            <Button look="small" aria-label={`Talk to ${name}`} onClick={() => onOpen(name)}>
              Talk
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Opening({ name, progress, onCancel }: { name: string; progress: OpenProgress | null; onCancel: () => void }) {
  const id = useId();
  return (
    <div className="max-w-[44rem]" data-testid="opening">
      <h1 className="text-3xl font-semibold tracking-tight break-words">{name}</h1>
      <p id={id} className="mt-4 text-soft" data-testid="phase">
        {progress === null ? 'Starting the engine…' : `${phases[progress.phase]}: ${formatBytes(progress.loaded)} of ${formatBytes(progress.total)}`}
      </p>
      <progress
        aria-labelledby={id}
        className="mt-2 h-2.5 w-full overflow-hidden rounded-full bg-sunk accent-weld"
        max={1}
        {...(progress === null ? {} : { value: progress.total === 0 ? 0 : progress.loaded / progress.total })}
      />
      <Button className="mt-5" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}
