// The dedicated Worker in which a detector looks at frames: one model, one frame at a time.
import { EngineMissing } from './loadEngine';
import { OnnxDetector } from './onnxDetector';
import type { FromVision, ToVision, VisionCalls, VisionMethod } from './visionMessages';

let detector: OnnxDetector | null = null;

async function answer(message: ToVision): Promise<VisionCalls[VisionMethod]['answer']> {
  if (message.method === 'open') {
    detector?.close();
    detector = null;
    detector = await OnnxDetector.open(new Uint8Array(message.argument));
    return detector.about;
  }
  const { frame } = message.argument;
  try {
    if (detector === null) throw new Error('No model is open.');
    return await detector.see(message.argument);
  } finally {
    frame.close();
  }
}

self.onmessage = (event: MessageEvent<ToVision>) => {
  const { call } = event.data;
  const say = (message: FromVision) => self.postMessage(message);
  answer(event.data).then(
    (result) => say({ call, answer: result }),
    (error: unknown) => say({ call, refusal: error instanceof Error ? error.message : String(error), missing: error instanceof EngineMissing }),
  );
};
