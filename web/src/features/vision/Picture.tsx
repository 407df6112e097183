// Shows the moving picture with the boxes on it. Both change at the same time, so that a frame is never shown with boxes of another frame.
import { useEffect, useRef } from 'react';
import type { Box } from '../../engine/visionMessages';
import type { Vision } from './vision';

const svg = 'http://www.w3.org/2000/svg';
const colours = ['var(--dye-0)', 'var(--dye-3)', '#5cc2b5', '#e2776a', '#9fb0ff'];
const textPixels = 13; // The size of the text on the screen.
const numbers = (box: Box) => box.box.map((side) => side.toFixed(2)).join(' ');

function part(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const made = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** `pixel` is the number of picture pixels in one screen pixel. */
function drawn(box: Box, pixel: number): SVGElement {
  const [left, top, right, bottom] = box.box;
  const colour = colours[box.classId % colours.length] ?? 'white';
  const words = `${box.label} ${box.score.toFixed(2)}`;
  const size = textPixels * pixel;
  const group = part('g', { 'data-testid': 'box', 'data-class': box.classId, 'data-score': box.score.toFixed(4), 'data-box': numbers(box) });
  const line = Math.max(0, top);
  const above = line >= size * 1.5;
  const y = above ? line - size * 1.5 : line;
  group.append(
    part('rect', { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top), fill: 'none', stroke: colour, 'stroke-width': 2.5 * pixel }),
    part('rect', { x: Math.max(0, left), y, width: (words.length * 0.62 + 0.8) * size, height: size * 1.5, fill: colour }),
    part('text', { x: Math.max(0, left) + size * 0.4, y: y + size * 1.1, 'font-size': size, fill: '#161b38' }, words),
  );
  return group;
}

export function Picture({ vision, label }: { vision: Vision; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<SVGSVGElement>(null);
  useEffect(() => {
    vision.setStage({
      show(frame, boxes, by) {
        const context = canvas.current?.getContext('2d');
        if (canvas.current === null || overlay.current === null || !context) return;
        const { displayWidth: width, displayHeight: height } = frame;
        if (canvas.current.width !== width || canvas.current.height !== height) {
          canvas.current.width = width;
          canvas.current.height = height;
          overlay.current.setAttribute('viewBox', `0 0 ${width} ${height}`);
        }
        context.drawImage(frame, 0, 0, width, height);
        const pixel = width / (overlay.current.clientWidth || width);
        overlay.current.replaceChildren(...[...boxes].reverse().map((box) => drawn(box, pixel)));
        overlay.current.dataset['by'] = by;
        overlay.current.dataset['frame'] = String(frame.timestamp);
      },
    });
    return () => vision.setStage(null);
  }, [vision]);
  return (
    <div className="relative overflow-hidden rounded-md bg-sunk">
      <canvas ref={canvas} width={1280} height={720} className="block h-auto w-full" role="img" aria-label={label} data-testid="picture" />
      <svg ref={overlay} viewBox="0 0 1280 720" className="pointer-events-none absolute inset-0 size-full font-mono" aria-hidden data-testid="boxes" />
    </div>
  );
}
