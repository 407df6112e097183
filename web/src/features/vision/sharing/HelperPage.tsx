// The page of a device that was invited to help a camera: first what it would do and see, then what it does.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { Button } from '../../../design/Button';
import { formatBytes } from '../../../design/format';
import { Notice } from '../../../design/Notice';
import { Stat } from '../../../design/Stat';
import { Helper } from './helper';
import type { Invitation } from './invitation';

export function HelperPage({ invitation, helper: given, onOwn }: { invitation: Invitation; helper?: Helper; onOwn: () => void }) {
  const helper = useMemo(() => given ?? new Helper(invitation), [given, invitation]);
  const state = useSyncExternalStore(helper.subscribe, helper.state);
  useEffect(() => () => void (helper.state().stage !== 'invited' && helper.leave()), [helper]);
  const { stage, detector } = state;
  const isIn = stage === 'waiting' || stage === 'opening' || stage === 'helping';
  return (
    <main className="pt-4 pb-20">
      <h1 className="text-2xl font-semibold tracking-tight">Help a camera</h1>
      <p className="mt-0.5 text-sm text-soft" role="status" data-testid="helper" data-stage={stage}>
        {stage === 'invited'
          ? 'The link that you opened leads to a camera in another browser.'
          : stage === 'joining'
            ? 'Looking for the camera…'
            : stage === 'waiting'
              ? 'The camera is there; waiting for its model.'
              : stage === 'opening'
                ? `Getting and opening ${state.model ?? 'the model'}…`
                : stage === 'helping'
                  ? `Computes frames with ${state.model ?? 'the model'} on ${detector?.device.kind === 'gpu' ? `${detector.device.name}, by WebGPU` : "this device's processor, by WebAssembly"}`
                  : 'This tab helps no longer.'}
      </p>
      <div className="mt-5 max-w-[44rem] space-y-5">
        {stage === 'ended' ? (
          <Notice tone="warn" title="It ended">
            <p data-testid="helper-why">{state.why}</p>
          </Notice>
        ) : null}
        {isIn ? (
          <>
            <dl className="grid grid-cols-2 gap-x-6 gap-y-5 sm:grid-cols-3">
              <Stat label="frames computed" value={state.frames.toLocaleString('en')} testId="helper-frames" />
              <Stat label="the last one" value={state.milliseconds === null ? '–' : state.milliseconds.toFixed(1)} unit="ms" />
              <Stat label={state.path === 'relay' ? 'through the coordinator' : 'over a direct link'} value={formatBytes(state.bytes)} />
            </dl>
            <Button onClick={() => helper.leave()}>Leave</Button>
          </>
        ) : (
          <>
            <Notice title="What joining means">
              <p data-testid="helper-warning">
                This tab gets a model and pictures from the camera's browser, computes on this device's GPU, and sends back what the model finds. Both sides see each other's network address, unless they have no direct connection and meet through the coordinator, which passes on
                encrypted bytes. The pictures can be
                seen by this device while it computes them; no part of them is stored. The model comes from the camera's browser and runs inside the browser's own bounds.
              </p>
            </Notice>
            <div className="flex flex-wrap gap-3">
              <Button look="primary" disabled={stage === 'joining'} onClick={() => void helper.join()}>
                {stage === 'ended' ? 'Join again' : 'Join'}
              </Button>
              <Button onClick={onOwn}>Use a camera of this device instead</Button>
            </div>
          </>
        )}
      </div>
    </main>
  );
}
