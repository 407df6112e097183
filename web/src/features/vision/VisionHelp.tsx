// The help of the page: why a camera may be missing, how a phone reacts to a coordinator's own certificate, and what happens to pictures.
import type { ReactNode } from 'react';

const Code = ({ children }: { children: ReactNode }) => <code className="my-1.5 block rounded bg-sunk px-3 py-2 font-mono text-sm break-words text-ink">{children}</code>;

export function VisionHelp({ open }: { open: boolean }) {
  const { host, port } = window.location;
  return (
    <details className="mt-12 max-w-[44rem]" open={open} data-testid="help">
      <summary className="font-semibold">Help: phones, certificates, and where pictures go</summary>
      <div className="mt-3 space-y-3 text-soft">
        <p>
          Pictures stay in this tab unless you share the work: the model runs here, on the GPU where the browser offers one. A frame that comes while the model is busy is skipped. Devices that join by
          your link see the pictures that they compute, and each other's and your network address; what goes between you and them is sealed with keys that come from the link, which the coordinator never
          gets. A helper's boxes are drawn after it has found the same as this tab in two frames, and about one frame in twelve is looked at twice.
        </p>
        <p>
          Devices that do not reach each other share through the coordinator, which passes on sealed bytes. A machine without a browser helps with the same link:
        </p>
        <Code>{`weft vision help '${window.location.origin}/vision#camera=…'`}</Code>
        <p>
          Browsers give the camera only to pages that came over HTTPS, or from the machine itself (localhost). For a phone, start the coordinator with a certificate of
          its own making:
        </p>
        <Code>{`weft serve --listen 0.0.0.0:${port || '7300'} --tls-self-signed`}</Code>
        <p>On the phone open its address with https once:</p>
        <ul className="list-disc space-y-1.5 pl-5">
          <li>
            Chrome (Android) shows <em className="text-ink">Your connection is not private</em>, with <span className="font-mono text-[0.9em]">NET::ERR_CERT_AUTHORITY_INVALID</span>. Press
            <em className="text-ink"> Advanced</em>, then <em className="text-ink">Proceed to {host} (unsafe)</em>.
          </li>
          <li>
            Safari (iPhone) shows <em className="text-ink">This Connection Is Not Private</em>. Press <em className="text-ink">Show Details</em>, then{' '}
            <em className="text-ink">visit this website</em>, and confirm.
          </li>
          <li>
            Firefox shows <em className="text-ink">Warning: Potential Security Risk Ahead</em>. Press <em className="text-ink">Advanced</em>, then <em className="text-ink">Accept the Risk and Continue</em>.
          </li>
        </ul>
        <p>
          The address bar keeps a sign that the certificate is not known; the connection is encrypted anyway, and the camera works. With{' '}
          <span className="font-mono text-[0.9em]">--tls-cert</span> and <span className="font-mono text-[0.9em]">--tls-key</span> a certificate that browsers already trust shows no warning.
        </p>
        <p>
          Models are ONNX files of detectors: an input of shape [1, 3, height, width], and boxes as YOLOv5, FastestDet, SSD or UltraFace give them. Others are refused with the reason. For
          another input size, <span className="font-mono text-[0.9em]">weft onnx reshape</span> writes a model that is reshaped.
        </p>
      </div>
    </details>
  );
}
