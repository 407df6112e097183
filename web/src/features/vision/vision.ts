// The state of the page Vision: a model, a source of pictures, and a loop that gives each frame to one of the devices that share the work;
// the first is this tab's own model. A frame that arrives while all devices are busy is skipped, not queued. A frame is always drawn with
// its own boxes, and never after a newer frame.
import { Sight, SightMissing } from '../../engine/sight';
import type { Box, Detector, FitKind } from '../../engine/visionMessages';
import { FrameLog, type Figures } from './figures';
import { Crew, type Looked, type Node, type NodeView, type Task } from './sharing/crew';
import { notShared, Sharing, type SharingState } from './sharing/sharing';
import type { Source } from './sources';

export type Model = { readonly state: 'none'; readonly trouble: string | null } | { readonly state: 'opening'; readonly name: string } | { readonly state: 'ready'; readonly name: string; readonly detector: Detector };

export type VisionState = {
  readonly model: Model;
  readonly source: { readonly name: string; readonly moves: boolean } | null;
  readonly fit: FitKind;
  readonly blueFirst: boolean;
  readonly figures: Figures;
  /** Values of the latest frame. */
  readonly pictureBytes: number;
  readonly answerBytes: number;
  readonly size: readonly [number, number] | null;
  readonly boxes: readonly Box[];
  readonly trouble: string | null;
  readonly sharing: SharingState;
  readonly nodes: readonly NodeView[];
};

/** Draws a frame and its boxes at once; `by` is the device that found them. */
export type Stage = { show(frame: VideoFrame, boxes: readonly Box[], by: string): void };

const bytesMax = 1 << 30;

function sentence(error: unknown): string {
  if (error instanceof SightMissing) return `This server has no engine for models: ${error.message} Its operator builds it with ./weft build.`;
  return error instanceof Error ? error.message : String(error);
}

/** The node of this tab's own model. */
class OwnNode implements Node {
  readonly id = 'this tab';
  readonly name = 'This tab';
  readonly isLocal = true;
  #isBusy = false;
  readonly #sight: Sight;

  constructor(sight: Sight) {
    this.#sight = sight;
  }

  get takes(): boolean {
    return !this.#isBusy;
  }

  async look({ frame, fit, blueFirst }: Task): Promise<Looked> {
    const given = frame.clone();
    this.#isBusy = true;
    try {
      return { ...(await this.#sight.call('see', { frame: given, fit, blueFirst }, [given as unknown as Transferable])), linkBytes: 0 };
    } finally {
      this.#isBusy = false;
    }
  }

  close(): void {
    // Does nothing, because this tab's own model lasts as long as the page.
  }
}

export class Vision {
  readonly #sight: Sight;
  readonly #figuresEveryMs: number;
  readonly #listeners = new Set<() => void>();
  #state: VisionState = {
    model: { state: 'none', trouble: null },
    source: null,
    fit: 'letterbox',
    blueFirst: false,
    figures: new FrameLog().figures(),
    pictureBytes: 0,
    answerBytes: 0,
    size: null,
    boxes: [],
    trouble: null,
    sharing: notShared,
    nodes: [],
  };
  readonly #crew: Crew;
  readonly #sharing: Sharing;
  #file: File | null = null;
  #source: Source | null = null;
  #stage: Stage | null = null;
  #log = new FrameLog();
  /** The numbers of the frame that was given to a device last, and of the frame that is drawn. */
  #number = 0;
  #drawn = 0;
  /** Counts changes of the model, the source and the settings, so that an answer from before a change is not drawn. */
  #turn = 0;
  #told = 0;

  /** `figuresEveryMs` is the time between updates of the figures, because numbers that change faster cannot be read. */
  constructor(sight: Sight = new Sight(), figuresEveryMs = 250, crew: Crew = new Crew()) {
    this.#sight = sight;
    this.#crew = crew;
    this.#sharing = new Sharing(crew, () => this.#set({ sharing: this.#sharing.state, nodes: crew.views() }));
    this.#figuresEveryMs = figuresEveryMs;
    this.#crew.add(new OwnNode(sight));
  }

  readonly state = (): VisionState => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  setStage(stage: Stage | null): void {
    this.#stage = stage;
  }

  async open(file: File): Promise<void> {
    const turn = this.#begin();
    this.#set({ model: { state: 'opening', name: file.name }, trouble: null });
    try {
      if (file.size > bytesMax) throw new Error(`${file.name} is over 1 GiB, which is more than a tab takes.`);
      const bytes = await file.arrayBuffer();
      const detector = await this.#sight.call('open', bytes, [bytes]);
      if (this.#turn !== turn) return;
      this.#file = file;
      this.#crew.forget();
      this.#set({ model: { state: 'ready', name: file.name, detector }, fit: detector.fit });
      if (this.#sharing.state.link !== null) await this.#shareModel();
    } catch (error) {
      if (this.#turn !== turn) return;
      this.#set({ model: { state: 'none', trouble: sentence(error) } });
      return;
    }
    this.#look();
  }

  /** Uses a source from now on, and closes the previous one. */
  watch(source: Source): void {
    this.#begin();
    this.#source?.close();
    this.#source = source;
    this.#set({ source: { name: source.name, moves: source.video !== null }, trouble: null, boxes: [], size: null });
    if (source.video !== null) this.#follow(source, source.video);
    this.#look();
  }

  stop(): void {
    this.#begin();
    this.#source?.close();
    this.#source = null;
    this.#set({ source: null, boxes: [], size: null });
  }

  change(settings: { readonly fit?: FitKind; readonly blueFirst?: boolean }): void {
    this.#begin();
    this.#set(settings);
    this.#look();
  }

  complain(trouble: string | null): void {
    this.#set({ trouble });
  }

  /** Lets other devices join. `page` is the address of this page. */
  async share(page: string): Promise<void> {
    await this.#shareModel();
    await this.#sharing.open(page);
  }

  unshare(): void {
    this.#sharing.close();
  }

  async #shareModel(): Promise<void> {
    const { model } = this.#state;
    const file = this.#file;
    if (model.state !== 'ready' || file === null) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (this.#state.model === model) this.#sharing.setModel(file.name, bytes, model.detector);
  }

  #begin(): number {
    this.#log = new FrameLog();
    this.#told = 0;
    this.#set({ figures: this.#log.figures(), pictureBytes: 0, answerBytes: 0 });
    return (this.#turn += 1);
  }

  /** Processes a still picture at once. */
  #look(): void {
    const picture = this.#source?.picture;
    if (picture === null || picture === undefined) return;
    void this.#see(() => new VideoFrame(picture, { timestamp: 0 }), performance.now());
  }

  #follow(source: Source, video: HTMLVideoElement): void {
    let presented = 0;
    const next = (now: number, about: VideoFrameCallbackMetadata) => {
      if (this.#source !== source) return;
      video.requestVideoFrameCallback(next);
      // Frames that the browser did not give to this page also count as skipped.
      const missed = presented === 0 ? 0 : about.presentedFrames - presented - 1;
      presented = about.presentedFrames;
      if (this.#state.model.state !== 'ready') return;
      this.#log.skip(Math.max(0, missed));
      void this.#see(() => new VideoFrame(video, { timestamp: Math.round(about.mediaTime * 1e6) }), about.captureTime ?? now);
    };
    video.requestVideoFrameCallback(next);
  }

  async #see(take: () => VideoFrame, captured: number): Promise<void> {
    const { model, fit, blueFirst } = this.#state;
    if (model.state !== 'ready') return;
    const nodes = this.#crew.offer();
    if (nodes.length === 0) {
      this.#log.skip(1);
      this.#tell();
      return;
    }
    const turn = this.#turn;
    let frame: VideoFrame;
    try {
      frame = take();
    } catch (error) {
      return this.#set({ trouble: sentence(error) });
    }
    const number = (this.#number += 1);
    let isDrawn = false;
    const draw = (looked: Looked, { id }: Node) => {
      if (this.#turn !== turn || number <= this.#drawn) return;
      isDrawn = true;
      this.#drawn = number;
      this.#draw(frame, looked, id, captured);
    };
    await this.#crew.look(nodes, { number, frame, fit, blueFirst }, draw, (error) => this.#turn === turn && this.#set({ trouble: sentence(error) }));
    frame.close();
    // A still picture has no next frame, so a change during the answer is processed now.
    if (this.#turn !== turn) this.#look();
    else if (!isDrawn) this.#log.skip(1);
  }

  #draw(frame: VideoFrame, { boxes, pictureBytes, answerBytes }: Looked, by: string, captured: number): void {
    this.#stage?.show(frame, boxes, by);
    const at = performance.now();
    this.#log.draw({ latency: at - captured, at });
    this.#set({ boxes, pictureBytes, answerBytes, size: [frame.displayWidth, frame.displayHeight], trouble: null });
    this.#tell();
  }

  #tell(): void {
    const now = performance.now();
    if (this.#told !== 0 && now - this.#told < this.#figuresEveryMs) return;
    this.#told = now;
    this.#set({ figures: this.#log.figures(), nodes: this.#crew.views() });
  }

  #set(change: Partial<VisionState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
