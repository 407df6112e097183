// Draws the network as a star. The coordinator is in the middle, and the distance of a worker is the logarithm of its round trip time, so
// that near and far workers both fit; its colour is its load. D3's forces separate workers with equal distances. The module does not use
// the DOM: it runs in a Worker, with one simulation step and one drawing for each frame.
import { forceLink, forceManyBody, forceSimulation, type Simulation, type SimulationLinkDatum, type SimulationNodeDatum } from 'd3-force';
import type { Palette } from './palette';

/** The columns of a worker's row: number, round trip in ms (negative: unknown), load from 0 to 1, and 1 for a browser. */
export const columns = 4;

export type View = { readonly width: number; readonly height: number; readonly ratio: number };
type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export type Node = SimulationNodeDatum & { number: number; roundTripMs: number; load: number; browser: boolean };
type Link = SimulationLinkDatum<Node>;

const unknownMs = 30;
const nearest = 46;
const decade = 88;
/** Returns the length of the link of a worker with this round trip. */
export function distanceOf(roundTripMs: number): number {
  const ms = roundTripMs < 0 ? unknownMs : Math.min(roundTripMs, 10_000);
  return nearest + decade * Math.log10(1 + ms);
}
export const rings: readonly { readonly ms: number; readonly label: string }[] = [
  { ms: 1, label: '1 ms' },
  { ms: 10, label: '10 ms' },
  { ms: 100, label: '100 ms' },
  { ms: 1000, label: '1 s' },
];

/** A worker moves only if its round trip changes by at least this factor. */
const movesFrom = 1.3;
const shades = 8;
/** The share of workers that must have joined, left or moved before the other workers move. */
const stirsFrom = 0.005;

export class Topology {
  readonly #nodes = new Map<number, Node>();
  readonly #hub: Node = { number: -1, roundTripMs: 0, load: 0, browser: false, fx: 0, fy: 0, x: 0, y: 0 };
  readonly #links = forceLink<Node, Link>([]).strength(1.1).iterations(1);
  readonly #charge = forceManyBody<Node>();
  readonly #simulation: Simulation<Node, Link>;

  constructor() {
    this.#simulation = forceSimulation<Node, Link>([this.#hub])
      .force('link', this.#links)
      .force('charge', this.#charge)
      .velocityDecay(0.5)
      .alphaMin(0.02)
      .stop();
  }

  get size(): number {
    return this.#nodes.size;
  }
  /** True if no worker moves any more. */
  get settled(): boolean {
    return this.#simulation.alpha() < this.#simulation.alphaMin();
  }
  node(number: number): Node | undefined {
    return this.#nodes.get(number);
  }

  /** Sets all workers; workers that are not in the rows are removed. */
  set(rows: Float64Array): void {
    let moved = 0;
    const here = new Set<number>();
    for (let at = 0; at + columns <= rows.length; at += columns) {
      const [number = 0, roundTripMs = -1, load = 0, browser = 0] = rows.subarray(at, at + columns);
      here.add(number);
      const node = this.#nodes.get(number);
      if (node === undefined) {
        // A new worker starts near its final place, at the golden angle, so that no worker moves far.
        const angle = number * 2.399963;
        const distance = distanceOf(roundTripMs);
        this.#nodes.set(number, { number, roundTripMs, load, browser: browser > 0, x: Math.cos(angle) * distance, y: Math.sin(angle) * distance });
        moved += 1;
        continue;
      }
      node.load = load;
      const change = distanceOf(roundTripMs) / distanceOf(node.roundTripMs);
      if (change > movesFrom || change < 1 / movesFrom || (node.roundTripMs < 0) !== (roundTripMs < 0)) {
        node.roundTripMs = roundTripMs;
        moved += 1;
      }
    }
    for (const number of [...this.#nodes.keys()]) {
      if (here.has(number)) continue;
      this.#nodes.delete(number);
      moved += 1;
    }
    if (moved > 0) this.#rebuild(moved);
  }

  #rebuild(moved: number): void {
    const workers = [...this.#nodes.values()];
    const room = Math.sqrt(60 / Math.max(60, workers.length));
    this.#charge.strength(-26 * room).distanceMax(160 * room + 60).theta(0.8);
    this.#simulation.nodes([this.#hub, ...workers]);
    this.#links.links(workers.map((target) => ({ source: this.#hub, target }))).distance((link) => distanceOf((link.target as Node).roundTripMs));
    // The simulation restarts with a strength that depends on the share of moved workers. A single
    // newcomer among hundreds causes no restart, because its place is nearly right.
    const share = moved / Math.max(1, workers.length);
    if (share < stirsFrom) return;
    this.#simulation.alpha(Math.max(this.#simulation.alpha(), share > 0.25 ? 0.8 : 0.25));
  }

  step(): void {
    if (!this.settled) this.#simulation.tick();
  }

  /** Returns the mapping from the simulation's plane to the canvas: everything fits, and a small network is not enlarged too much. */
  #frame(view: View): { scale: number; x: number; y: number } {
    let reach = distanceOf(10);
    for (const node of this.#nodes.values()) reach = Math.max(reach, Math.hypot(node.x ?? 0, node.y ?? 0));
    const scale = Math.min(1.5, (Math.min(view.width, view.height) / 2 - 14) / reach);
    return { scale, x: view.width / 2, y: view.height / 2 };
  }

  /** Returns the worker nearest to a point of the canvas, within the width of a finger, or null. */
  nearest(view: View, x: number, y: number): number | null {
    const frame = this.#frame(view);
    let best = 18;
    let found: number | null = null;
    for (const node of this.#nodes.values()) {
      const distance = Math.hypot(frame.x + (node.x ?? 0) * frame.scale - x, frame.y + (node.y ?? 0) * frame.scale - y);
      if (distance < best) {
        best = distance;
        found = node.number;
      }
    }
    return found;
  }

  draw(context: Context, view: View, palette: Palette, pointed: number | null): void {
    const { scale, x, y } = this.#frame(view);
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const many = this.#nodes.size > 800;

    context.lineWidth = 1;
    context.font = '11px "Instrument Sans", system-ui, sans-serif';
    context.textAlign = 'center';
    for (const ring of rings) {
      const radius = distanceOf(ring.ms) * scale;
      if (radius > Math.max(view.width, view.height) / 2 + 20) continue;
      context.strokeStyle = palette.line;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.stroke();
    }

    // Draws the threads from the middle to each worker.
    context.globalAlpha = many ? 0.12 : 0.55;
    context.strokeStyle = palette['warp-slack'];
    context.lineWidth = many ? 0.6 : 1.1;
    context.beginPath();
    for (const node of this.#nodes.values()) {
      context.moveTo(x, y);
      context.lineTo(x + (node.x ?? 0) * scale, y + (node.y ?? 0) * scale);
    }
    context.stroke();
    context.globalAlpha = 1;

    // Draws the workers with one path for each shade: browsers are round, native workers square.
    const radius = this.#nodes.size > 2000 ? 2 : many ? 2.8 : this.#nodes.size > 120 ? 4 : 6.5;
    for (let shade = 0; shade <= shades; shade += 1) {
      context.beginPath();
      for (const node of this.#nodes.values()) {
        if (Math.round(Math.min(1, node.load) * shades) !== shade) continue;
        const nx = x + (node.x ?? 0) * scale;
        const ny = y + (node.y ?? 0) * scale;
        if (node.browser && !many) {
          context.moveTo(nx + radius, ny);
          context.arc(nx, ny, radius, 0, 2 * Math.PI);
        } else {
          context.rect(nx - radius, ny - radius, 2 * radius, 2 * radius);
        }
      }
      context.fillStyle = shadeOf(palette, shade / shades);
      context.fill();
      if (!many) {
        context.strokeStyle = palette.panel;
        context.lineWidth = 1.5;
        context.stroke();
      }
    }

    for (const ring of rings) {
      const radius = distanceOf(ring.ms) * scale;
      if (y - radius < 8) continue;
      const width = context.measureText(ring.label).width + 10;
      context.fillStyle = palette.panel;
      context.fillRect(x - width / 2, y - radius - 8, width, 16);
      context.fillStyle = palette['ink-soft'];
      context.fillText(ring.label, x, y - radius + 4);
    }

    const marked = pointed === null ? undefined : this.#nodes.get(pointed);
    if (marked !== undefined) {
      context.strokeStyle = palette.ink;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x + (marked.x ?? 0) * scale, y + (marked.y ?? 0) * scale, radius + 5, 0, 2 * Math.PI);
      context.stroke();
    }
    drawHub(context, palette, x, y);
  }
}

/** Returns the colour of a load between the undyed colour (idle) and weld yellow (busy), mixed by the canvas. */
function shadeOf(palette: Palette, load: number): string {
  return load <= 0 ? palette['raw-deep'] : `color-mix(in oklab, ${palette['dye-0']} ${Math.round(15 + 85 * load)}%, ${palette['raw-deep']})`;
}

/** Draws the logo on a disc. */
function drawHub(context: Context, palette: Palette, x: number, y: number): void {
  context.fillStyle = palette.panel;
  context.beginPath();
  context.arc(x, y, 19, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.5;
  context.stroke();
  context.lineCap = 'round';
  context.lineWidth = 3.4;
  for (const [colour, horizontal] of [[palette.warp, false], [palette['dye-0'], true]] as const) {
    context.strokeStyle = colour;
    context.beginPath();
    for (const offset of [-7, 0, 7]) {
      context.moveTo(horizontal ? x - 9 : x + offset, horizontal ? y + offset : y - 9);
      context.lineTo(horizontal ? x + 9 : x + offset, horizontal ? y + offset : y + 9);
    }
    context.stroke();
  }
  context.lineCap = 'butt';
}
