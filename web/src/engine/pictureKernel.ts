// Turns a frame into a detector's input on the GPU: copyExternalImageToTexture, one copy to a buffer, and the two shaders of
// src/engine/onnx/vision/gpu, which are tested there. The picture is not read back.
import columns from '../../../src/engine/onnx/vision/gpu/picture_columns.wgsl?raw';
import rows from '../../../src/engine/onnx/vision/gpu/picture_rows.wgsl?raw';
import { pixelShares, placedPart, placeWords, shareTable, type Geometry, type PixelScale, type Placement } from './pictureFit';

const workgroupWidth = 64; // The width of a workgroup, which the shaders repeat.
const rowAlignment = 64; // The unit is a pixel; a copy from a texture needs rows of a multiple of 256 bytes.
// WebGPU's usage bits; TypeScript's library has only their types.
const usages = { bufferCopyDestination: 0x8, bufferStorage: 0x80, textureCopySource: 0x1, textureCopyDestination: 0x2, renderAttachment: 0x10 } as const;

type Bound = {
  readonly key: string;
  readonly texture: GPUTexture;
  readonly buffers: readonly GPUBuffer[];
  readonly picture: GPUBuffer;
  readonly bytesPerRow: number;
  readonly groups: readonly [GPUBindGroup, GPUBindGroup];
  readonly dispatches: readonly [readonly [number, number], readonly [number, number]];
  readonly placement: Placement;
};

const paddedRow = (width: number) => Math.ceil(width / rowAlignment) * rowAlignment;

/** Returns the reason why a picture does not fit into a texture and a buffer of the GPU, or null if it fits. */
export function tooLarge(width: number, height: number, limits: { readonly maxTextureDimension2D: number; readonly maxStorageBufferBindingSize: number }): string | null {
  const side = limits.maxTextureDimension2D;
  if (width <= side && height <= side && paddedRow(width) * height * 4 <= limits.maxStorageBufferBindingSize) return null;
  return `The picture has ${width} × ${height} pixels, which is too large for this GPU: take one with at most ${side} pixels a side and ${Math.floor(limits.maxStorageBufferBindingSize / 4)} in all.`;
}

export class PictureKernel {
  readonly #device: GPUDevice;
  readonly #input: GPUBuffer;
  readonly #pipelines: readonly [GPUComputePipeline, GPUComputePipeline];
  /** The buffers for the geometry of the latest frame. */
  #bound: Bound | null = null;
  /** The canvas for frames, made when a frame could not be copied directly. */
  #canvas: OffscreenCanvas | null = null;

  private constructor(device: GPUDevice, input: GPUBuffer, pipelines: readonly [GPUComputePipeline, GPUComputePipeline]) {
    this.#device = device;
    this.#input = input;
    this.#pipelines = pipelines;
  }

  /** `input` is the buffer that the model reads, [3][height][width] of f32. */
  static async create(device: GPUDevice, input: GPUBuffer): Promise<PictureKernel> {
    const make = (label: string, code: string) => device.createComputePipelineAsync({ label, layout: 'auto', compute: { module: device.createShaderModule({ label, code }), entryPoint: 'main' } });
    return new PictureKernel(device, input, await Promise.all([make('picture columns', columns), make('picture rows', rows)]));
  }

  /** Submits the work; commands that are submitted later see the input. Returns the placement of the picture in the input. */
  put(frame: VideoFrame, geometry: Geometry, scale: PixelScale): Placement {
    const bound = this.#bind(geometry, scale);
    const size = [geometry.pictureWidth, geometry.pictureHeight] as const;
    this.#copy(frame, bound.texture, size);
    const encoder = this.#device.createCommandEncoder({ label: 'picture' });
    encoder.copyTextureToBuffer({ texture: bound.texture }, { buffer: bound.picture, bytesPerRow: bound.bytesPerRow }, size);
    const pass = encoder.beginComputePass({ label: 'picture' });
    for (const i of [0, 1] as const) {
      pass.setPipeline(this.#pipelines[i]);
      pass.setBindGroup(0, bound.groups[i]);
      pass.dispatchWorkgroups(...bound.dispatches[i]);
    }
    pass.end();
    this.#device.queue.submit([encoder.finish()]);
    return bound.placement;
  }

  /**
   * Copies a frame. If the browser decodes films on the processor (with a software GPU), WebGPU does not accept their frames, and a canvas
   * is used.
   */
  #copy(frame: VideoFrame, texture: GPUTexture, size: readonly [number, number]): void {
    const to = { texture, colorSpace: 'srgb' } as const;
    if (this.#canvas === null) {
      try {
        this.#device.queue.copyExternalImageToTexture({ source: frame }, to, size);
        return;
      } catch {
        this.#canvas = new OffscreenCanvas(...size);
      }
    }
    const canvas = this.#canvas;
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('This browser gives the page no canvas, so pictures cannot be copied to the GPU.');
    context.drawImage(frame, 0, 0);
    this.#device.queue.copyExternalImageToTexture({ source: canvas }, to, size);
  }

  release(): void {
    this.#bound?.texture.destroy();
    for (const buffer of this.#bound?.buffers ?? []) buffer.destroy();
    this.#bound = null;
  }

  #bind(geometry: Geometry, scale: PixelScale): Bound {
    const key = JSON.stringify([geometry, scale]);
    if (this.#bound?.key === key) return this.#bound;
    this.release();
    const { pictureWidth, pictureHeight, width, height } = geometry;
    const device = this.#device;
    const trouble = tooLarge(pictureWidth, pictureHeight, device.limits);
    if (trouble !== null) throw new Error(trouble);
    const part = placedPart(geometry);
    const pixelsPerRow = paddedRow(pictureWidth);
    const texture = device.createTexture({
      label: 'picture',
      size: [pictureWidth, pictureHeight],
      format: 'rgba8unorm',
      usage: usages.textureCopySource | usages.textureCopyDestination | usages.renderAttachment,
    });
    const buffers: GPUBuffer[] = [];
    const make = (size: number) => {
      const buffer = device.createBuffer({ label: 'picture', size, usage: usages.bufferStorage | usages.bufferCopyDestination });
      buffers.push(buffer);
      return buffer;
    };
    const filled = (words: Uint32Array<ArrayBuffer>) => {
      const buffer = make(words.byteLength);
      device.queue.writeBuffer(buffer, 0, words);
      return buffer;
    };
    const picture = make(pixelsPerRow * pictureHeight * 4);
    const wide = make(part.width * pictureHeight * 4);
    const group = (pipeline: GPUComputePipeline, list: readonly GPUBuffer[]) =>
      device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: list.map((buffer, binding) => ({ binding, resource: { buffer } })) });
    this.#bound = {
      key,
      texture,
      buffers,
      picture,
      bytesPerRow: pixelsPerRow * 4,
      groups: [
        group(this.#pipelines[0], [picture, filled(shareTable([part.width, pictureHeight, pixelsPerRow, 0], pixelShares(pictureWidth, part.width))), wide]),
        group(this.#pipelines[1], [wide, filled(shareTable([0, 0, 0, 0], pixelShares(pictureHeight, part.height))), filled(placeWords(geometry, part, scale)), this.#input]),
      ],
      dispatches: [
        [Math.ceil(part.width / workgroupWidth), pictureHeight],
        [Math.ceil(width / workgroupWidth), height],
      ],
      placement: part.placement,
    };
    return this.#bound;
  }
}
