// The layout of a job's tasks in a rectangle, and their drawing: as cloth if there is room for threads, otherwise as one spot of colour for
// each task. Tasks are in rows, with task 0 at the top left.
import type { Palette } from './palette';
import { channels } from './palette';
import { taskStates, type TaskState } from './tasks';

/** `cell` is a fraction of a pixel if there are so many tasks. */
export type Layout = { readonly columns: number; readonly rows: number; readonly cell: number };

const cellMax = 64;
const threadsFrom = 7;  // The smallest cell with threads, in pixels; smaller cells are spots.

/** Returns the layout with the largest square cells in which `tasks` tasks fit. All lengths are device pixels. */
export function layoutOf(tasks: number, width: number, height: number, ratio = 1): Layout {
  if (tasks <= 0 || width < 1 || height < 1) return { columns: 1, rows: 1, cell: 1 };
  const cellOf = (columns: number) => Math.min(width / columns, height / Math.ceil(tasks / columns));
  const about = Math.sqrt((tasks * width) / height);
  let columns = 1;
  for (const tried of [Math.floor(about), Math.ceil(about), Math.ceil(about) + 1]) {
    if (tried >= 1 && cellOf(Math.min(tried, tasks)) > cellOf(columns)) columns = Math.min(tried, tasks);
  }
  const fitting = Math.min(cellMax * ratio, cellOf(columns));
  // Cells with threads have whole pixels; spots fill the whole rectangle.
  const cell = fitting >= threadsFrom ? Math.floor(fitting) : fitting;
  columns = Math.min(tasks, Math.floor(width / cell + 1e-6));
  return { columns, rows: Math.ceil(tasks / columns), cell };
}

/** Returns the task at a point, or null. */
export function taskAt(layout: Layout, tasks: number, x: number, y: number): number | null {
  const column = Math.floor(x / layout.cell);
  const row = Math.floor(y / layout.cell);
  if (column < 0 || row < 0 || column >= layout.columns || row >= layout.rows) return null;
  const task = row * layout.columns + column;
  return task < tasks ? task : null;
}

export const stateColours: Readonly<Record<TaskState, keyof Palette>> = {
  waiting: 'raw',
  leased: 'dye-0',
  checking: 'dye-2',
  accepted: 'warp',
  refused: 'dye-1',
};

/** Draws spots: one pixel for each task in a small picture, which is then enlarged. */
function drawSpots(context: CanvasRenderingContext2D, tasks: Uint8Array, layout: Layout, palette: Palette, scratch: HTMLCanvasElement): void {
  const { columns, rows, cell } = layout;
  scratch.width = columns;
  scratch.height = rows;
  const small = scratch.getContext('2d');
  if (small === null) return;
  const image = small.createImageData(columns, rows);
  const words = new Uint32Array(image.data.buffer);
  const word = ([red, green, blue]: readonly [number, number, number]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  const colours = Uint32Array.from(taskStates, (state) => word(channels(palette[stateColours[state]])));
  // Accepted tasks are shaded as a twill, so that they look like cloth from a distance.
  const accepted = taskStates.indexOf('accepted');
  const [warp, slack] = [channels(palette.warp), channels(palette['warp-slack'])];
  const twill = word([0, 1, 2].map((i) => Math.round(0.72 * (warp[i] ?? 0) + 0.28 * (slack[i] ?? 0))) as [number, number, number]);
  for (let i = 0; i < tasks.length; i += 1) {
    const state = tasks[i] ?? 0;
    words[i] = state === accepted && ((i % columns) + Math.floor(i / columns)) % 4 >= 2 ? twill : (colours[state] ?? 0);
  }
  small.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(scratch, 0, 0, columns * cell, rows * cell);
  if (cell < 4) return;
  context.fillStyle = palette.ground;
  for (let column = 1; column <= columns; column += 1) context.fillRect(Math.round(column * cell) - 1, 0, 1, rows * cell);
  for (let row = 1; row <= rows; row += 1) context.fillRect(0, Math.round(row * cell) - 1, columns * cell, 1);
}

/** Draws cloth: warp threads run down, and a task in progress or done has a pick of weft over or under them. */
function drawThreads(context: CanvasRenderingContext2D, tasks: Uint8Array, layout: Layout, palette: Palette): void {
  const { columns, cell } = layout;
  const thread = cell * 0.74;
  const slack = Math.max(1, cell * 0.2);
  const paths = new Map<string, Path2D>();
  const add = (colour: string, x: number, y: number, width: number, height: number) => {
    let path = paths.get(colour);
    if (path === undefined) {
      path = new Path2D();
      paths.set(colour, path);
    }
    path.roundRect(x, y, width, height, Math.min(width, height) / 2);
  };
  const accepted = taskStates.indexOf('accepted');
  const refused = taskStates.indexOf('refused');
  for (let i = 0; i < tasks.length; i += 1) {
    const state = tasks[i] ?? 0;
    const column = i % columns;
    const row = Math.floor(i / columns);
    const x = column * cell;
    const y = row * cell;
    const inset = (cell - thread) / 2;
    if (state === 0) {
      add(palette['raw-deep'], x + (cell - slack) / 2, y, slack, cell);
    } else if (state === accepted) {
      // A twill: each thread runs over two and under two, moved by one in each row.
      if ((column + row) % 4 < 2) add(palette['warp'], x + inset, y + 0.5, thread, cell - 1);
      else add(palette['warp-slack'], x + 0.5, y + inset, cell - 1, thread);
    } else {
      const colour = palette[stateColours[taskStates[state] ?? 'waiting']];
      add(palette['raw-deep'], x + (cell - slack) / 2, y, slack, cell);
      add(colour, x + 0.5, y + inset, cell - 1, thread);
      if (state === refused) add(palette.panel, x + cell * 0.3, y + cell * 0.44, cell * 0.4, Math.max(1, cell * 0.12));
    }
  }
  for (const [colour, path] of paths) {
    context.fillStyle = colour;
    context.fill(path);
  }
}

export function drawGrid(context: CanvasRenderingContext2D, tasks: Uint8Array, layout: Layout, palette: Palette, scratch: HTMLCanvasElement): void {
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  if (layout.cell >= threadsFrom) drawThreads(context, tasks, layout, palette);
  else drawSpots(context, tasks, layout, palette, scratch);
}
