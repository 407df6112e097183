// Draws the topology in a Worker, on a canvas that the page transferred: one simulation step and one picture for each frame while something
// moves, and one picture after a change.
import type { Palette } from './palette';
import { Topology, type View } from './topology';

export type ToTopology =
  | { readonly say: 'start'; readonly canvas: OffscreenCanvas }
  | { readonly say: 'look'; readonly view: View; readonly palette: Palette }
  | { readonly say: 'workers'; readonly rows: Float64Array }
  | { readonly say: 'point'; readonly x: number; readonly y: number }
  | { readonly say: 'mark'; readonly number: number | null };
export type FromTopology =
  | { readonly say: 'pointed'; readonly number: number | null }
  | { readonly say: 'drawn'; readonly workers: number; readonly settled: boolean };

const scope = self as unknown as {
  postMessage(message: FromTopology): void;
  onmessage: ((event: MessageEvent<ToTopology>) => void) | null;
  requestAnimationFrame(callback: (time: number) => void): number;
};

const topology = new Topology();
let canvas: OffscreenCanvas | null = null;
let view: View = { width: 0, height: 0, ratio: 1 };
let palette: Palette | null = null;
let marked: number | null = null;
let waiting = false;
let told = '';
let drawnAt = 0;
/** The time between two pictures. About thirty a second are smooth enough, and leave the machine to the worker that runs on it. */
const pictureMs = 30;

function frame(time: number): void {
  waiting = false;
  if (time - drawnAt < pictureMs) return wake();
  drawnAt = time;
  const context = canvas?.getContext('2d') ?? null;
  if (canvas === null || context === null || palette === null || view.width === 0) return;
  topology.step();
  const width = Math.round(view.width * view.ratio);
  const height = Math.round(view.height * view.ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  topology.draw(context, view, palette, marked);
  const now = `${topology.size} ${topology.settled}`;
  if (now !== told) {
    told = now;
    scope.postMessage({ say: 'drawn', workers: topology.size, settled: topology.settled });
  }
  if (!topology.settled) wake();
}
function wake(): void {
  if (waiting) return;
  waiting = true;
  scope.requestAnimationFrame(frame);
}

scope.onmessage = ({ data }) => {
  switch (data.say) {
    case 'start':
      canvas = data.canvas;
      break;
    case 'look':
      ({ view, palette } = data);
      break;
    case 'workers':
      topology.set(data.rows);
      break;
    case 'point':
      scope.postMessage({ say: 'pointed', number: topology.nearest(view, data.x, data.y) });
      return;
    case 'mark':
      marked = data.number;
      break;
  }
  wake();
};
