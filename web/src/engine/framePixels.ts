// Reads the pixels of a frame for a model without a GPU: red, green, blue and alpha of each pixel, row by row.
export class FramePixels {
  #canvas: OffscreenCanvas | null = null;

  /** Returns the pixels, which are valid until the next call. */
  of(frame: VideoFrame): Uint8ClampedArray {
    const { displayWidth: width, displayHeight: height } = frame;
    this.#canvas ??= new OffscreenCanvas(width, height);
    this.#canvas.width = width;
    this.#canvas.height = height;
    const context = this.#canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('This browser gives the page no canvas, so pictures cannot be read.');
    context.drawImage(frame, 0, 0);
    return context.getImageData(0, 0, width, height).data;
  }
}
