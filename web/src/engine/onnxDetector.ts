// A detector that uses the WebAssembly of src/bindings/onnx_web; its README.md describes the interface.
import { EngineMissing } from './loadEngine';
import { FramePixels } from './framePixels';
import { fitPixels, placedPart, type Geometry, type PixelScale, type Placement } from './pictureFit';
import { PictureKernel } from './pictureKernel';
import type { Box, Detector, FitKind, Seen } from './visionMessages';

type Value = { readonly name: string; readonly type: string | null; readonly shape: readonly (number | string)[] | null };
export type OnnxInfo = {
  readonly name: string;
  readonly weightBytes: number;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly device: { readonly kind: 'gpu' | 'cpu'; readonly name: string; readonly reason: string };
};
type OnnxModel = {
  readonly info: OnnxInfo;
  detect(inputs: Record<string, { gpu: true } | { data: Float32Array }>, options: Placement): Promise<{ boxes: readonly Box[]; bytesDown: number }>;
  inputBuffer(name: string): Promise<{ buffer: GPUBuffer; device: GPUDevice }>;
  close(): void;
};
type OnnxModule = { open(bytes: Uint8Array, options: object): Promise<OnnxModel> };

const moduleAt = new URL('/engine/weft_onnx.mjs', self.location.href).href;
let loading: Promise<OnnxModule> | null = null;

async function load(): Promise<OnnxModule> {
  loading ??= (import(/* @vite-ignore */ moduleAt) as Promise<{ default: () => Promise<OnnxModule> }>)
    .catch(async (error: unknown) => {
      // A HEAD request is sent first, because a failed import() does not tell whether the file is missing or broken.
      const there = await fetch(moduleAt, { method: 'HEAD' });
      if (!there.ok || !(there.headers.get('content-type') ?? '').includes('javascript')) throw new EngineMissing(`${new URL(moduleAt).pathname} answered ${there.status}.`);
      throw error;
    })
    .then(({ default: create }) => create());
  loading.catch(() => (loading = null));
  return loading;
}

const sizes = (shape: Value['shape'] | undefined) => (shape?.every((size) => typeof size === 'number') === true ? (shape as readonly number[]) : null);

/** Returns the input and the convention of a detector that `weft detect` knows, or a sentence that says why the model is not one. */
export function detectorOf(info: OnnxInfo): { input: string; width: number; height: number; fit: FitKind; mean: number; scale: number; outputBytes: number } | string {
  const [input, second] = info.inputs;
  const shape = input?.shape ?? [];
  const [, , height, width] = shape;
  const one = (size: number | string | undefined, value: number) => typeof size === 'string' || size === value;
  if (input === undefined || second !== undefined || input.type !== 'f32' || shape.length !== 4 || !one(shape[0], 1) || !one(shape[1], 3) || typeof height !== 'number' || typeof width !== 'number') {
    return 'The model is not a supported detector: its input must be f32 of shape [1, 3, height, width].';
  }
  const outputs = info.outputs.map((output) => sizes(output.shape));
  const known = outputs.filter((output) => output !== null);
  const rows = (output: readonly number[] | undefined, least: number) => output !== undefined && output.length === 3 && output[0] === 1 && (output[2] ?? 0) >= least;
  // Outputs whose size depends on values are checked only when they are computed.
  if (known.length === outputs.length) {
    const [first, boxes] = known;
    const fits = (known.length === 1 && rows(first, 6)) || (known.length === 2 && rows(first, 2) && rows(boxes, 4) && boxes?.[2] === 4 && first?.[1] === boxes[1]);
    if (!fits) return 'The model is not a supported detector: it needs one f32 output of shape [1, boxes, 5 + classes], or two, [1, boxes, classes] and [1, boxes, 4].';
  }
  const outputBytes = known.reduce((sum, output) => sum + 4 * output.reduce((a, b) => a * b, 1), 0);
  const common = { input: input.name, width, height, outputBytes };
  return info.outputs.length === 2 ? { ...common, fit: 'stretch', mean: 127, scale: 1 / 128 } : { ...common, fit: 'letterbox', mean: 0, scale: 1 / 255 };
}

/**
 * Returns sizes for a model whose batch or colours have names instead of sizes: one picture of three colours. Null if there are no names.
 */
export function batchOfOne(info: OnnxInfo): Record<string, number> | null {
  const [batch, colours] = info.inputs[0]?.shape ?? [];
  const sizes: Record<string, number> = {};
  if (typeof batch === 'string' && batch !== '?') sizes[batch] = 1;
  if (typeof colours === 'string' && colours !== '?') sizes[colours] = 3;
  return Object.keys(sizes).length === 0 ? null : sizes;
}

export class OnnxDetector {
  readonly about: Detector;
  readonly #model: OnnxModel;
  readonly #input: string;
  readonly #scale: Omit<PixelScale, 'blueFirst'>;
  readonly #kernel: PictureKernel | null;
  readonly #pixels = new FramePixels();

  private constructor(model: OnnxModel, about: Detector, input: string, scale: Omit<PixelScale, 'blueFirst'>, kernel: PictureKernel | null) {
    this.#model = model;
    this.about = about;
    this.#input = input;
    this.#scale = scale;
    this.#kernel = kernel;
  }

  /** Opens a model. Rejects with a message of one sentence. */
  static async open(bytes: Uint8Array): Promise<OnnxDetector> {
    const onnx = await load();
    let model = await onnx.open(bytes, { device: 'auto' });
    try {
      const sizes = batchOfOne(model.info);
      if (sizes !== null) {
        model.close();
        model = await onnx.open(bytes, { device: 'auto', sizes });
      }
      const found = detectorOf(model.info);
      if (typeof found === 'string') throw new Error(found);
      const { input, mean, scale, width, height, fit, outputBytes } = found;
      const { name, weightBytes, device } = model.info;
      let kernel: PictureKernel | null = null;
      if (device.kind === 'gpu') {
        const given = await model.inputBuffer(input);
        kernel = await PictureKernel.create(given.device, given.buffer);
      }
      return new OnnxDetector(model, { name, width, height, weightBytes, outputBytes, fit, device }, input, { mean, scale }, kernel);
    } catch (error) {
      model.close();
      throw error;
    }
  }

  async see({ frame, fit, blueFirst }: { frame: VideoFrame; fit: FitKind; blueFirst: boolean }): Promise<Seen> {
    const begun = performance.now();
    const { width, height } = this.about;
    const geometry: Geometry = { pictureWidth: frame.displayWidth, pictureHeight: frame.displayHeight, width, height, fit };
    const scale = { ...this.#scale, blueFirst };
    const placement = this.#kernel === null ? placedPart(geometry).placement : this.#kernel.put(frame, geometry, scale);
    const given = this.#kernel === null ? { data: fitPixels(this.#pixels.of(frame), geometry, scale) } : ({ gpu: true } as const);
    return this.#find(given, placement, begun, geometry.pictureWidth * geometry.pictureHeight * 4);
  }

  /** `levels` are those of the whole input, [3][height][width]. */
  async seeLevels({ levels, placement }: { levels: ArrayBuffer; placement: Placement }): Promise<Seen> {
    const begun = performance.now();
    const { width, height } = this.about;
    if (levels.byteLength !== 3 * width * height) throw new Error(`A frame of ${levels.byteLength} bytes is not one of ${width} × ${height} pixels.`);
    // The values are computed in 32 bits, as the shader computes them.
    const { mean, scale } = this.#scale;
    const values = Float32Array.from({ length: 256 }, (_, level) => (level - mean) * Math.fround(scale));
    const bytes = new Uint8Array(levels);
    const data = new Float32Array(bytes.length);
    for (let i = 0; i < bytes.length; i += 1) data[i] = values[bytes[i] ?? 0] ?? 0;
    return this.#find({ data }, placement, begun, levels.byteLength);
  }

  async #find(given: { gpu: true } | { data: Float32Array }, placement: Placement, begun: number, pictureBytes: number): Promise<Seen> {
    const { boxes, bytesDown } = await this.#model.detect({ [this.#input]: given }, { ...placement });
    return { boxes, milliseconds: performance.now() - begun, pictureBytes, answerBytes: this.about.device.kind === 'gpu' ? bytesDown : this.about.outputBytes };
  }

  close(): void {
    this.#kernel?.release();
    this.#model.close();
  }
}
