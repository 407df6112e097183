// Explains why this tab cannot join, in the browser's terms, and what to do. The usual reason is plain http from another machine.
import { Notice } from '../../design/Notice';
import type { Preflight } from '../../engine/preflight';

export function NotSecure({ found }: { found: Preflight }) {
  const { host, port, protocol } = window.location;
  const listen = `0.0.0.0:${port || '80'}`;
  if (!found.insecure) {
    return (
      <Notice tone="warn" className="mt-8 max-w-[38rem]" title="This browser cannot join">
        <p>It lacks {found.missing.join(', and ')}. A current Chrome, Edge, Firefox or Safari has all of it.</p>
      </Notice>
    );
  }
  return (
    <div data-testid="insecure">
      <Notice tone="warn" className="mt-8 max-w-[38rem]" title="This page came without TLS, so this tab cannot join">
        <p>
          Over plain <code className="font-mono text-[0.9em] text-ink">{protocol}//{host}</code> a browser gives a page {found.missing.map((thing) => `no ${thing}`).join(', and ')}.
          That is its rule for every address other than localhost.
        </p>
      </Notice>
      <h2 className="mt-6 font-semibold">What to do</h2>
      <ol className="mt-2 max-w-[38rem] list-decimal space-y-2 pl-5 text-soft">
        <li>
          On the machine that runs the coordinator, start it with a certificate of its own making
          <Command>{`weft serve --listen ${listen} --tls-self-signed`}</Command>
          or with one that browsers already trust
          <Command>{`weft serve --listen ${listen} --tls-cert cert.pem --tls-key key.pem`}</Command>
        </li>
        <li>
          Then open{' '}
          <a className="font-medium text-ink underline underline-offset-4" href={`https://${host}/`}>
            https://{host}/
          </a>
          . With a certificate of its own making the browser warns once; continue from there.
        </li>
      </ol>
    </div>
  );
}

function Command({ children }: { children: string }) {
  return <code className="my-1.5 block rounded bg-sunk px-3 py-2 font-mono text-sm text-ink">{children}</code>;
}
