// The card on the camera's page that lets other devices join and shows what each of them does.
import { useId, useState } from 'react';
import { Button } from '../../../design/Button';
import { formatBytes } from '../../../design/format';
import { Notice } from '../../../design/Notice';
import type { NodeView } from './crew';
import { QrCode } from './QrCode';
import type { Path } from './sealing';
import type { SharingState } from './sharing';

export function ShareCard({ sharing, onShare, onEnd }: { sharing: SharingState; onShare: () => void; onEnd: () => void }) {
  const id = useId();
  const [copied, setCopied] = useState(false);
  const { link } = sharing;
  return (
    <section aria-labelledby="vision-share" data-testid="share" data-state={link === null ? 'off' : sharing.reachable ? 'open' : 'unreachable'}>
      <h2 id="vision-share" className="font-semibold">
        Other devices
      </h2>
      <p className="mt-1 text-sm text-soft" data-testid="share-warning">
        Frames can be shared out to browsers on other devices. Each of them <strong className="text-ink">gets the model and sees the pictures</strong> that it computes; the coordinator sees neither.
        Give the link only to people who may see them.
      </p>
      {sharing.trouble === null ? null : (
        <Notice tone="warn" title="The camera is not shared" className="mt-3">
          <p data-testid="share-trouble">{sharing.trouble}</p>
        </Notice>
      )}
      {link === null ? (
        <Button look="small" className="mt-3" disabled={sharing.opening} onClick={onShare}>
          Share the work
        </Button>
      ) : (
        <>
          {sharing.reachable ? null : (
            <p className="mt-2 text-sm text-soft" role="status">
              The coordinator cannot be reached now; those that are here stay.
            </p>
          )}
          <label htmlFor={id} className="mt-3 block text-xs text-soft">
            A device joins by this link
          </label>
          <input id={id} readOnly value={link} className="mt-1 h-9 w-full rounded border border-line bg-panel px-2.5 font-mono text-sm" data-testid="share-link" onFocus={(event) => event.target.select()} />
          <div className="mt-2 flex flex-wrap gap-2">
            <Button look="small" onClick={() => void navigator.clipboard.writeText(link).then(() => setCopied(true), () => setCopied(false))}>
              {copied ? 'Copied' : 'Copy the link'}
            </Button>
            <Button look="small" onClick={onEnd}>
              End sharing
            </Button>
          </div>
          <QrCode text={link} label="The link as a QR code" />
        </>
      )}
    </section>
  );
}

const words: Record<NodeView['state'], string> = {
  new: 'not needed yet',
  checked: 'is checked: it computes what this tab computes, too',
  works: 'takes part',
  'too slow': 'too slow to help: its boxes would come after those of newer frames',
  late: 'late: it gets no frames until it answers',
};
const paths: Record<Path, string> = { direct: 'direct', relay: 'through the coordinator' };
const milliseconds = (value: number | null) => (value === null ? '–' : value < 10 ? value.toFixed(1) : String(Math.round(value)));

export function NodeTable({ nodes, sharing }: { nodes: readonly NodeView[]; sharing: SharingState }) {
  if (sharing.link === null && nodes.length < 2 && sharing.left.length === 0) return null;
  const cell = 'py-1.5 pr-4 text-right font-mono tabular-nums';
  const head = 'py-1.5 pr-4 text-right font-normal text-soft';
  return (
    <section className="mt-8" aria-labelledby="vision-nodes">
      <h2 id="vision-nodes" className="font-semibold">
        Devices
      </h2>
      <div className="mt-2 overflow-x-auto" tabIndex={0} role="region" aria-labelledby="vision-nodes">
        <table className="w-full text-sm" data-testid="nodes">
          <thead>
            <tr className="border-b border-line">
              <th scope="col" className="py-1.5 pr-4 text-left font-normal text-soft">
                device
              </th>
              <th scope="col" className={head}>
                share
              </th>
              <th scope="col" className={head}>
                model, ms
              </th>
              <th scope="col" className={head}>
                link, ms
              </th>
              <th scope="col" className={head}>
                frames
              </th>
              <th scope="col" className={head}>
                bytes
              </th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => (
              <tr key={node.id} className="border-b border-line align-top" data-testid="node" data-id={node.id} data-state={node.state} data-frames={node.frames} data-share={node.share.toFixed(3)} data-path={node.path ?? ''}>
                <th scope="row" className="py-1.5 pr-4 text-left font-normal">
                  {node.name} {node.isLocal ? null : <span className="text-soft">({node.id})</span>}
                  <span className="block text-xs text-soft">{node.isLocal && node.state === 'new' ? 'has computed nothing yet' : words[node.state]}</span>
                  {node.path === null ? null : <span className="block text-xs text-soft">link: {paths[node.path]}</span>}
                </th>
                <td className={cell}>{Math.round(100 * node.share)} %</td>
                <td className={cell}>{milliseconds(node.work)}</td>
                <td className={cell}>{node.isLocal ? '–' : milliseconds(node.link)}</td>
                <td className={cell}>{node.frames.toLocaleString('en')}</td>
                <td className={cell}>{node.isLocal ? '–' : formatBytes(node.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sharing.waiting === 0 ? null : (
        <p className="mt-2 text-sm text-soft" role="status">
          {sharing.waiting === 1 ? 'One device gets the model.' : `${sharing.waiting} devices get the model.`}
        </p>
      )}
      {sharing.left.length === 0 ? null : (
        <ul className="mt-2 space-y-0.5 text-sm text-soft" data-testid="left">
          {sharing.left.map((line, i) => (
            <li key={`${i} ${line}`}>{line}</li>
          ))}
        </ul>
      )}
    </section>
  );
}
