// The page Vision: a camera, a film or a picture, and a model that finds objects in it, in this tab and in tabs of helpers.
import { useEffect, useId, useMemo, useRef, useState, useSyncExternalStore, type FormEvent } from 'react';
import { Button } from '../../design/Button';
import { FileChoice } from '../../design/FileChoice';
import { formatBytes } from '../../design/format';
import { Notice } from '../../design/Notice';
import { Stat } from '../../design/Stat';
import type { Detector, FitKind } from '../../engine/visionMessages';
import { openAddress, openCamera, openFile, SourceError, type Source } from './sources';
import { Picture } from './Picture';
import { HelperPage } from './sharing/HelperPage';
import { invitationOf } from './sharing/invitation';
import { NodeTable, ShareCard } from './sharing/ShareCard';
import { Vision, type Model, type VisionState } from './vision';
import { VisionHelp } from './VisionHelp';

// One Vision for the visit, so that the model is still open when the visitor returns to the page.
let visit: Vision | null = null;

/** The page of a camera, or the page of a device that was invited to help one. */
export function VisionPage({ vision }: { vision?: Vision }) {
  const fragment = useFragment();
  const invitation = useMemo(() => invitationOf(fragment), [fragment]);
  if (invitation === null) return vision === undefined ? <CameraPage /> : <CameraPage vision={vision} />;
  return <HelperPage key={fragment} invitation={invitation} onOwn={() => (window.location.hash = '')} />;
}

function useFragment(): string {
  return useSyncExternalStore(
    (listener) => {
      window.addEventListener('hashchange', listener);
      return () => window.removeEventListener('hashchange', listener);
    },
    () => window.location.hash,
  );
}

function CameraPage({ vision: given }: { vision?: Vision }) {
  const vision = useMemo(() => given ?? (visit ??= new Vision()), [given]);
  const state = useSyncExternalStore(vision.subscribe, vision.state);
  const [insecure, setInsecure] = useState(false);
  const [opening, setOpening] = useState(false);
  const turn = useRef(0);
  // Stops the camera when the visitor leaves the page.
  useEffect(
    () => () => {
      turn.current += 1;
      vision.stop();
      vision.unshare();
    },
    [vision],
  );

  const take = (open: () => Promise<Source>) => {
    const mine = (turn.current += 1);
    const current = () => turn.current === mine;
    setOpening(true);
    vision.complain(null);
    open()
      .then(
        (source) => (current() ? vision.watch(source) : source.close()),
        (error: unknown) => {
          if (!current()) return;
          vision.complain(error instanceof Error ? error.message : String(error));
          if (error instanceof SourceError && error.trouble === 'insecure') setInsecure(true);
        },
      )
      .finally(() => current() && setOpening(false));
  };
  const stop = () => {
    turn.current += 1;
    setOpening(false);
    vision.stop();
  };

  const { model, source } = state;
  return (
    <main className="pt-4 pb-20">
      <h1 className="text-2xl font-semibold tracking-tight">Vision</h1>
      <p className="mt-0.5 text-sm text-soft" data-testid="runs-on" data-state={model.state}>
        {model.state === 'ready' ? <RunsOn detector={model.detector} /> : 'Finds things in the pictures of a camera, a film or a file, in this tab'}
      </p>

      <div className="mt-5 grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,7fr)_minmax(0,3fr)]">
        <div className="min-w-0">
          <Picture vision={vision} label={source === null ? 'No picture yet' : `Pictures of ${source.name} with ${state.boxes.length} boxes`} />
          {state.trouble === null ? null : (
            <Notice tone="warn" title={source === null ? 'There is no picture' : 'A frame could not be looked at'} className="mt-4">
              <p data-testid="trouble">{state.trouble}</p>
            </Notice>
          )}
          {model.state === 'ready' && model.detector.device.kind === 'cpu' ? (
            <Notice title="The model runs on the processor" className="mt-4">
              <p data-testid="no-gpu">{model.detector.device.reason} It finds the same, slower; most frames are skipped.</p>
            </Notice>
          ) : null}
          <Numbers state={state} />
          <NodeTable nodes={state.nodes} sharing={state.sharing} />
        </div>
        <div className="min-w-0 space-y-8">
          <ModelCard model={model} onFile={(file) => void vision.open(file)} />
          <SourceCard state={state} opening={opening} onTake={take} onStop={stop} />
          {model.state === 'ready' ? <ShareCard sharing={state.sharing} onShare={() => void vision.share(window.location.href)} onEnd={() => vision.unshare()} /> : null}
          {model.state === 'ready' ? <InputCard detector={model.detector} state={state} vision={vision} /> : null}
        </div>
      </div>
      <VisionHelp key={String(insecure)} open={insecure} />
    </main>
  );
}

function RunsOn({ detector }: { detector: Detector }) {
  const { kind, name } = detector.device;
  return (
    <>
      Runs on <span className="text-ink">{name}</span>, {kind === 'gpu' ? 'by WebGPU' : 'by WebAssembly'}, in 32-bit floats
    </>
  );
}

const milliseconds = (value: number | null) => (value === null ? '–' : value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));

function Numbers({ state }: { state: VisionState }) {
  const { figures, pictureBytes, answerBytes } = state;
  const first = 'From the camera’s own time where the browser tells it, else from when the browser showed the frame, until it is drawn with its boxes';
  return (
    <dl className="mt-6 grid grid-cols-2 gap-x-6 gap-y-5 sm:grid-cols-3" data-testid="figures">
      <Stat label="capture to draw, p50" value={milliseconds(figures.p50)} unit="ms" hint={first} testId="p50" />
      <Stat label="capture to draw, p95" value={milliseconds(figures.p95)} unit="ms" hint={first} testId="p95" />
      <Stat label="frame rate" value={figures.framesPerSecond === null ? '–' : figures.framesPerSecond.toFixed(1)} unit="/s" testId="rate" />
      <Stat label="frames drawn" value={figures.drawn.toLocaleString('en')} testId="drawn" />
      <Stat label="frames skipped" value={figures.skipped.toLocaleString('en')} hint="They came while every device was busy with another, or their boxes came after those of a newer one" testId="skipped" />
      <Stat
        label="a frame, in and out"
        value={pictureBytes === 0 ? '–' : `${formatBytes(pictureBytes)}`}
        unit={answerBytes === 0 ? '' : `+ ${formatBytes(answerBytes)}`}
        hint="Bytes of the picture that go to the model, and of what comes back for the boxes"
        testId="bytes"
      />
    </dl>
  );
}

function ModelCard({ model, onFile }: { model: Model; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <section aria-labelledby="vision-model">
      <h2 id="vision-model" className="font-semibold">
        Model
      </h2>
      <p className="mt-1 text-sm text-soft" role="status" data-testid="model">
        {model.state === 'ready' ? (
          <>
            <span className="font-medium text-ink">{model.name}</span>, {formatBytes(model.detector.weightBytes)} of weights, input {model.detector.width} × {model.detector.height}
          </>
        ) : model.state === 'opening' ? (
          `Opening ${model.name}…`
        ) : (
          'An ONNX file of a detector: YOLOv5, FastestDet, UltraFace or their like.'
        )}
      </p>
      {model.state === 'none' && model.trouble !== null ? (
        <Notice tone="warn" title="The model is not open" className="mt-3">
          <p data-testid="model-trouble">{model.trouble}</p>
        </Notice>
      ) : null}
      <Button look={model.state === 'ready' ? 'small' : 'quiet'} className="mt-3" disabled={model.state === 'opening'} onClick={() => input.current?.click()}>
        {model.state === 'ready' ? 'Choose another' : 'Choose a model'}
      </Button>
      <FileChoice input={input} accept=".onnx" label="Model file" onFile={onFile} />
    </section>
  );
}

function SourceCard({ state, opening, onTake, onStop }: { state: VisionState; opening: boolean; onTake: (open: () => Promise<Source>) => void; onStop: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [address, setAddress] = useState('');
  const id = useId();
  const { source, size } = state;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (address.trim() !== '') onTake(() => openAddress(address.trim()));
  };
  return (
    <section aria-labelledby="vision-source">
      <h2 id="vision-source" className="font-semibold">
        Pictures
      </h2>
      <p className="mt-1 text-sm break-words text-soft" role="status" data-testid="source">
        {source === null ? (opening ? 'Opening…' : 'A camera at 1280 × 720, or a film or picture of yours.') : `${source.name}${size === null ? '' : `, ${size[0]} × ${size[1]}`}`}
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button look="small" onClick={() => onTake(openCamera)} disabled={opening}>
          Camera
        </Button>
        <Button look="small" onClick={() => input.current?.click()} disabled={opening}>
          Film or picture
        </Button>
        {source !== null || opening ? (
          <Button look="small" onClick={onStop}>
            Stop
          </Button>
        ) : null}
      </div>
      <FileChoice input={input} accept="video/*,image/*" label="Film or picture file" onFile={(file) => onTake(() => openFile(file))} />
      <form onSubmit={submit} className="mt-3">
        <label htmlFor={id} className="block text-xs text-soft">
          Or the address of a film
        </label>
        <div className="mt-1 flex gap-2">
          <input
            id={id}
            type="text"
            inputMode="url"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder="https://…/film.webm"
            className="h-9 min-w-0 grow rounded border border-line bg-panel px-2.5 text-sm placeholder:text-soft"
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
          <Button type="submit" look="small" disabled={opening || address.trim() === ''}>
            Open
          </Button>
        </div>
      </form>
    </section>
  );
}

const fits: readonly (readonly [FitKind, string])[] = [
  ['letterbox', 'Letterboxed, in the middle'],
  ['topleft', 'In the corner'],
  ['stretch', 'Stretched'],
];

function InputCard({ detector, state, vision }: { detector: Detector; state: VisionState; vision: Vision }) {
  const fitId = useId();
  const orderId = useId();
  const box = 'mt-1 h-9 w-full rounded border border-line bg-panel px-2.5 text-sm text-ink hover:border-soft';
  const size = `${detector.width} × ${detector.height}`;
  const words: Record<FitKind, string> = {
    letterbox: `Each picture is letterboxed to ${size}: scaled in proportion, with grey around it. The model keeps its shape.`,
    topleft: `Each picture is scaled in proportion to ${size}, in the corner, with grey beside it. The model keeps its shape.`,
    stretch: `Each picture is stretched to ${size}. The model keeps its shape.`,
  };
  return (
    <section aria-labelledby="vision-input">
      <h2 id="vision-input" className="font-semibold">
        Into the model
      </h2>
      <p className="mt-1 text-sm text-soft" data-testid="fitted" data-fit={state.fit}>
        {words[state.fit]}
      </p>
      <div className="mt-3 grid grid-cols-2 gap-3">
        <div>
          <label htmlFor={fitId} className="text-xs text-soft">
            Pictures are
          </label>
          <select id={fitId} className={box} value={state.fit} onChange={(event) => vision.change({ fit: event.target.value as FitKind })}>
            {fits.map(([fit, text]) => (
              <option key={fit} value={fit}>
                {text}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label htmlFor={orderId} className="text-xs text-soft">
            Colours
          </label>
          <select id={orderId} className={box} value={state.blueFirst ? 'BGR' : 'RGB'} onChange={(event) => vision.change({ blueFirst: event.target.value === 'BGR' })}>
            <option value="RGB">Red first (RGB)</option>
            <option value="BGR">Blue first (BGR)</option>
          </select>
        </div>
      </div>
    </section>
  );
}
