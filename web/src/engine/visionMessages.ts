// What the page Vision and its Worker say to each other: calls with answers by number. Pictures go as VideoFrames, which are handed over.

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
  /** Bytes of its outputs; on a GPU they stay there. */
  readonly outputBytes: number;
  readonly fit: FitKind;
  readonly device: { readonly kind: 'gpu' | 'cpu'; readonly name: string; readonly reason: string };
};

export type Seen = {
  readonly boxes: readonly Box[];
  /** From the frame's arrival in the Worker to its boxes. */
  readonly milliseconds: number;
  /** Bytes of the picture that went to the GPU, or into WebAssembly. */
  readonly pictureBytes: number;
  /** Bytes that came from the GPU, or from WebAssembly's outputs, for the boxes. */
  readonly answerBytes: number;
};

export type VisionCalls = {
  open: { argument: ArrayBuffer; answer: Detector };
  see: { argument: { readonly frame: VideoFrame; readonly fit: FitKind; readonly blueFirst: boolean }; answer: Seen };
  /** The levels of a model's input, one byte each, as `fit` gives them in another tab. */
  seeLevels: { argument: { readonly levels: ArrayBuffer; readonly placement: Placement }; answer: Seen };
  /** For another device; the model that is open does not matter. */
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
