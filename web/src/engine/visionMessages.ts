// The messages between the page Vision and its Worker: numbered calls with answers. Pictures are VideoFrames, which are transferred.

import type { Placement } from './pictureFit';

export type FitKind = 'letterbox' | 'topleft' | 'stretch';

export type Box = {
  readonly classId: number;
  readonly label: string;
  readonly score: number;
  /** Left, top, right, bottom in pixels of the picture. */
  readonly box: readonly [number, number, number, number];
};

export type Detector = {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly weightBytes: number;
  /** Bytes of the model's outputs; with a GPU they stay on the GPU. */
  readonly outputBytes: number;
  readonly fit: FitKind;
  readonly device: { readonly kind: 'gpu' | 'cpu'; readonly name: string; readonly reason: string };
};

export type Seen = {
  readonly boxes: readonly Box[];
  /** Milliseconds from the arrival of the frame in the Worker to its boxes. */
  readonly milliseconds: number;
  /** Bytes of the picture that were copied to the GPU or into WebAssembly. */
  readonly pictureBytes: number;
  /** Bytes that were read from the GPU, or from WebAssembly's outputs, for the boxes. */
  readonly answerBytes: number;
};

export type VisionCalls = {
  open: { argument: ArrayBuffer; answer: Detector };
  see: { argument: { readonly frame: VideoFrame; readonly fit: FitKind; readonly blueFirst: boolean }; answer: Seen };
  /** Finds boxes in the levels of a model's input, one byte each, which `fit` made in another tab. */
  seeLevels: { argument: { readonly levels: ArrayBuffer; readonly placement: Placement }; answer: Seen };
  /** Fits a frame for another device; the model that is open here does not matter. */
  fit: {
    argument: { readonly frame: VideoFrame; readonly fit: FitKind; readonly blueFirst: boolean; readonly width: number; readonly height: number };
    answer: { readonly levels: ArrayBuffer; readonly placement: Placement };
  };
};
export type VisionMethod = keyof VisionCalls;
export type ToVision = { readonly [Method in VisionMethod]: { readonly call: number; readonly method: Method; readonly argument: VisionCalls[Method]['argument'] } }[VisionMethod];
export type FromVision =
  | { readonly call: number; readonly answer: VisionCalls[VisionMethod]['answer'] }
  | { readonly call: number; readonly refusal: string; readonly missing: boolean };
