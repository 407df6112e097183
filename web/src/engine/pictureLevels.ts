// Turns a frame into the levels of a detector's input, one byte for each level, which are sent to another device. The levels equal those of
// this tab's detector, because the same shaders make them or, if there is no GPU, the same loops.
import { FramePixels } from './framePixels';
import { fitPixels, placedPart, type Geometry, type Placement } from './pictureFit';
import { PictureKernel } from './pictureKernel';
import type { FitKind } from './visionMessages';

const asLevels = { mean: 0, scale: 1 } as const;
const workgroupWidth = 64;
// WebGPU's usage bits; TypeScript's library has only their types.
const usages = { mapRead: 0x1, copySource: 0x4, copyDestination: 0x8, storage: 0x80 } as const;
const mapForReading = 1;

const pack = /* wgsl */ `
@group(0) @binding(0) var<storage, read> levels: array<f32>;  // Each level is a whole number from 0 to 255.
@group(0) @binding(1) var<storage, read_write> packed: array<u32>;  // Four levels in each word; the first is in the lowest byte.

@compute @workgroup_size(${workgroupWidth})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * ${workgroupWidth}u + id.x;
  if (i >= arrayLength(&packed)) { return; }
  var word = 0u;
  for (var k = 0u; k < 4u; k++) {
    let at = 4u * i + k;
    if (at < arrayLength(&levels)) { word |= u32(levels[at]) << (8u * k); }
  }
  packed[i] = word;
}
`;

export type Levels = { readonly levels: ArrayBuffer; readonly placement: Placement };
export type Wanted = { readonly frame: VideoFrame; readonly fit: FitKind; readonly blueFirst: boolean; readonly width: number; readonly height: number };

type OnGpu = { readonly kernel: PictureKernel; readonly device: GPUDevice; readonly input: GPUBuffer; readonly packed: GPUBuffer; readonly read: GPUBuffer; readonly pipeline: GPUComputePipeline; readonly group: GPUBindGroup; readonly words: number };

export class PictureLevels {
  readonly #size: number;
  readonly #gpu: OnGpu | null;
  readonly #pixels = new FramePixels();

  private constructor(size: number, gpu: OnGpu | null) {
    this.#size = size;
    this.#gpu = gpu;
  }

  static async create(width: number, height: number): Promise<PictureLevels> {
    const size = 3 * width * height;
    const adapter = await (navigator.gpu as GPU | undefined)?.requestAdapter().catch(() => null);
    const device = await adapter?.requestDevice().catch(() => null);
    if (!device) return new PictureLevels(size, null);
    const words = Math.ceil(size / 4);
    const input = device.createBuffer({ label: 'levels', size: 4 * size, usage: usages.storage });
    const packed = device.createBuffer({ label: 'packed levels', size: 4 * words, usage: usages.storage | usages.copySource });
    const read = device.createBuffer({ label: 'levels to send', size: 4 * words, usage: usages.mapRead | usages.copyDestination });
    const pipeline = await device.createComputePipelineAsync({ label: 'pack levels', layout: 'auto', compute: { module: device.createShaderModule({ label: 'pack levels', code: pack }), entryPoint: 'main' } });
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [input, packed].map((buffer, binding) => ({ binding, resource: { buffer } })) });
    return new PictureLevels(size, { kernel: await PictureKernel.create(device, input), device, input, packed, read, pipeline, group, words });
  }

  async of({ frame, fit, blueFirst, width, height }: Wanted): Promise<Levels> {
    const geometry: Geometry = { pictureWidth: frame.displayWidth, pictureHeight: frame.displayHeight, width, height, fit };
    const scale = { ...asLevels, blueFirst };
    if (this.#gpu === null) {
      const numbers = fitPixels(this.#pixels.of(frame), geometry, scale);
      return { levels: Uint8Array.from(numbers).buffer, placement: placedPart(geometry).placement };
    }
    const { kernel, device, packed, read, pipeline, group, words } = this.#gpu;
    const placement = kernel.put(frame, geometry, scale);
    const encoder = device.createCommandEncoder({ label: 'pack levels' });
    const pass = encoder.beginComputePass({ label: 'pack levels' });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    const groups = Math.ceil(words / workgroupWidth);
    const across = Math.min(groups, device.limits.maxComputeWorkgroupsPerDimension);
    pass.dispatchWorkgroups(across, Math.ceil(groups / across));
    pass.end();
    encoder.copyBufferToBuffer(packed, 0, read, 0, 4 * words);
    device.queue.submit([encoder.finish()]);
    await read.mapAsync(mapForReading);
    const levels = read.getMappedRange().slice(0, this.#size);
    read.unmap();
    return { levels, placement };
  }

  close(): void {
    this.#gpu?.device.destroy();
  }
}
