// The dedicated Worker of a detector. It has one model and processes one frame at a time. It also fits frames to the input of detectors on
// other devices.
import { EngineMissing } from './loadEngine';
import { OnnxDetector } from './onnxDetector';
import { PictureLevels, type Levels, type Wanted } from './pictureLevels';
import type { FromVision, ToVision, VisionCalls, VisionMethod } from './visionMessages';

let detector: OnnxDetector | null = null;
let fitting: { readonly size: string; readonly levels: Promise<PictureLevels> } | null = null;
let fitted: Promise<unknown> = Promise.resolve();

/** Fits frames one after the other, because they share buffers. */
function fit(wanted: Wanted): Promise<Levels> {
  const size = `${wanted.width} ${wanted.height}`;
  if (fitting?.size !== size) {
    void fitting?.levels.then((before) => fitted.then(() => before.close())).catch(() => undefined);
    fitting = { size, levels: PictureLevels.create(wanted.width, wanted.height) };
  }
  const { levels } = fitting;
  const answer = fitted.then(async () => (await levels).of(wanted));
  fitted = answer.catch(() => (fitting = null)); // A GPU that was lost does not return.
  return answer;
}

async function answer(message: ToVision): Promise<VisionCalls[VisionMethod]['answer']> {
  if (message.method === 'open') {
    detector?.close();
    detector = null;
    detector = await OnnxDetector.open(new Uint8Array(message.argument));
    return detector.about;
  }
  if (message.method === 'seeLevels') {
    if (detector === null) throw new Error('No model is open.');
    return detector.seeLevels(message.argument);
  }
  const { frame } = message.argument;
  try {
    if (message.method === 'fit') return await fit(message.argument);
    if (detector === null) throw new Error('No model is open.');
    return await detector.see(message.argument);
  } finally {
    frame.close();
  }
}

self.onmessage = (event: MessageEvent<ToVision>) => {
  const { call } = event.data;
  const say = (message: FromVision, transfer: Transferable[] = []) => self.postMessage(message, { transfer });
  answer(event.data).then(
    (result) => say({ call, answer: result }, 'levels' in result ? [result.levels] : []),
    (error: unknown) => say({ call, refusal: error instanceof Error ? error.message : String(error), missing: error instanceof EngineMissing }),
  );
};
