// Tests that a frame is drawn with its own boxes, that late frames are skipped instead of queued, and that answers of a closed model are
// not drawn.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Sight } from '../../engine/sight';
import type { Box, Detector, Seen } from '../../engine/visionMessages';
import { Crew, crewBounds, type Looked, type Node, type Task } from './sharing/crew';
import type { Source } from './sources';
import { Vision } from './vision';

class FakeFrame {
  static open = 0;
  readonly displayWidth = 1280;
  readonly displayHeight = 720;
  readonly timestamp: number;
  constructor(_source: unknown, { timestamp }: { timestamp: number }) {
    this.timestamp = timestamp;
    FakeFrame.open += 1;
  }
  clone(): FakeFrame {
    return new FakeFrame(null, this);
  }
  close(): void {
    FakeFrame.open -= 1;
  }
}

const detector: Detector = { name: 'm', width: 352, height: 352, weightBytes: 1, outputBytes: 4, fit: 'letterbox', device: { kind: 'gpu', name: 'a GPU', reason: '' } };
const box = (classId: number): Box => ({ classId, label: 'bus', score: 0.5, box: [0, 0, 1, 1] });

/** A model that answers when the test says so. */
class SlowSight extends Sight {
  readonly asked: number[] = [];
  readonly #waiting: ((seen: Seen | Error) => void)[] = [];
  override call = ((method: string, argument: { frame: FakeFrame }) => {
    if (method === 'open') return Promise.resolve(detector);
    this.asked.push(argument.frame.timestamp);
    return new Promise<Seen>((resolve, reject) => {
      this.#waiting.push((seen) => {
        argument.frame.close(); // The real Worker closes the frame, too.
        if (seen instanceof Error) reject(seen);
        else resolve(seen);
      });
    });
  }) as Sight['call'];
  async answers(seen: Box[] | Error): Promise<void> {
    this.#waiting.shift()?.(seen instanceof Error ? seen : { boxes: seen, milliseconds: 1, pictureBytes: 3_686_400, answerBytes: 32_800 });
    await vi.waitFor(() => undefined);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** A film that shows a frame when the test says so. */
function film() {
  let next: VideoFrameRequestCallback | null = null;
  let presented = 0;
  const video = {
    requestVideoFrameCallback(callback: VideoFrameRequestCallback) {
      next = callback;
      return 1;
    },
  } as unknown as HTMLVideoElement;
  const close = vi.fn();
  const source: Source = { name: 'film', video, picture: null, close };
  const shows = (second: number, missed = 0) => {
    presented += 1 + missed;
    const callback = next;
    next = null;
    callback?.(performance.now(), { mediaTime: second, presentedFrames: presented } as VideoFrameCallbackMetadata);
  };
  return { source, shows, close };
}

const drawn: (readonly [number, number[]])[] = [];
async function ready(crew?: Crew) {
  const sight = new SlowSight();
  const vision = new Vision(sight, 0, crew);
  drawn.length = 0;
  vision.setStage({ show: (frame, boxes) => void drawn.push([frame.timestamp / 1e6, boxes.map(({ classId }) => classId)]) });
  await vision.open(new File(['x'], 'm.onnx'));
  return { sight, vision };
}

beforeEach(() => {
  FakeFrame.open = 0;
  vi.stubGlobal('VideoFrame', FakeFrame);
});
afterEach(() => vi.unstubAllGlobals());

test('frames that come while the model is busy are skipped, and the next is the newest', async () => {
  const { sight, vision } = await ready();
  const { source, shows } = film();
  vision.watch(source);

  shows(1);
  shows(2);
  shows(3, 2);
  await sight.answers([box(1)]);
  shows(4);
  await sight.answers([box(4)]);

  expect(sight.asked.map((time) => time / 1e6)).toEqual([1, 4]);
  expect(drawn).toEqual([[1, [1]], [4, [4]]]);
  expect(FakeFrame.open).toBe(0);
});

test('skipped frames are counted, those too that the browser never showed', async () => {
  const { sight, vision } = await ready();
  const { source, shows } = film();
  vision.watch(source);

  shows(1);
  shows(2);
  shows(3, 2);
  await sight.answers([]);

  expect(vision.state().figures).toMatchObject({ drawn: 1, skipped: 4 });
});

test('an answer of a source that was closed is not drawn', async () => {
  const { sight, vision } = await ready();
  const first = film();
  const second = film();
  vision.watch(first.source);
  first.shows(1);
  vision.watch(second.source);
  expect(first.close).toHaveBeenCalled();

  await sight.answers([box(1)]);
  first.shows(2);
  second.shows(7);
  await sight.answers([box(7)]);

  expect(drawn).toEqual([[7, [7]]]);
  expect(FakeFrame.open).toBe(0);
});

test('a frame that fails is a sentence, and the next frame is looked at', async () => {
  const { sight, vision } = await ready();
  const { source, shows } = film();
  vision.watch(source);

  shows(1);
  await sight.answers(new Error('The device is lost.'));
  expect(vision.state().trouble).toBe('The device is lost.');
  shows(2);
  await sight.answers([box(2)]);

  expect(drawn).toEqual([[2, [2]]]);
  expect(vision.state().trouble).toBeNull();
});

test('a picture is looked at once, and again when the fit changes', async () => {
  const { sight, vision } = await ready();
  vision.watch({ name: 'picture', video: null, picture: {} as ImageBitmap, close: () => undefined });
  await sight.answers([box(1)]);
  vision.change({ fit: 'stretch' });
  await sight.answers([box(2)]);

  expect(drawn).toEqual([[0, [1]], [0, [2]]]);
  expect(sight.asked).toHaveLength(2);
});

/** Another device, which answers when the test says so. */
class FakeHelper implements Node {
  readonly id = 'helper';
  readonly name = 'helper';
  readonly isLocal = false;
  readonly takes = true;
  readonly asked: number[] = [];
  readonly #waiting: ((looked: Looked) => void)[] = [];
  look({ frame }: Task): Promise<Looked> {
    this.asked.push(frame.timestamp / 1e6);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
  async answers(boxes: Box[]): Promise<void> {
    this.#waiting.shift()?.({ boxes, milliseconds: 1, pictureBytes: 1, answerBytes: 0, linkBytes: 1 });
    await new Promise((resolve) => setTimeout(resolve));
  }
  close(): void {}
}

test('two devices: each frame has the boxes of its own device, and one that is older than what is drawn is dropped', async () => {
  let now = 0;
  const crew = new Crew({ clock: () => (now += 20), chance: () => 0.99, bounds: { ...crewBounds, agreementsFirst: 0 } });
  const { sight, vision } = await ready(crew);
  const helper = new FakeHelper();
  crew.add(helper);
  const { source, shows } = film();
  vision.watch(source);

  shows(1);
  shows(2);
  expect(helper.asked).toEqual([2]);
  await helper.answers([box(2)]);
  await sight.answers([box(1)]);
  expect(drawn).toEqual([[2, [2]]]);

  shows(3);
  await (helper.asked.includes(3) ? helper : sight).answers([box(3)]);
  expect(drawn).toEqual([[2, [2]], [3, [3]]]);
  vision.stop();
  expect(FakeFrame.open).toBe(0);
});
