import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { Sight, SightMissing } from '../../engine/sight';
import type { Detector } from '../../engine/visionMessages';
import { Vision } from './vision';
import { VisionPage } from './VisionPage';

afterEach(() => vi.unstubAllGlobals());

const detector: Detector = { name: 'm', width: 352, height: 320, weightBytes: 1_048_576, outputBytes: 164_560, fit: 'letterbox', device: { kind: 'gpu', name: 'Mesa llvmpipe', reason: '' } };
const page = (answer: () => Promise<unknown>) => {
  const sight = new Sight();
  sight.call = answer as Sight['call'];
  render(<VisionPage vision={new Vision(sight, 0)} />);
};
const choose = (name = 'm.onnx') => userEvent.upload(screen.getByLabelText('Model file'), new File(['x'], name));

test('a model is told with its device, arithmetic, and how pictures come into it', async () => {
  page(() => Promise.resolve(detector));
  await choose();

  expect((await screen.findByTestId('runs-on')).textContent).toBe('Runs on Mesa llvmpipe, by WebGPU, in 32-bit floats');
  expect(screen.getByTestId('model').textContent).toBe('m.onnx, 1 MiB of weights, input 352 × 320');
  expect(screen.getByTestId('fitted').textContent).toMatch(/letterboxed to 352 × 320.*keeps its shape/);
});

test('a model that is refused is a sentence', async () => {
  page(() => Promise.reject(new Error('The model is not a supported detector: too bad.')));
  await choose();
  expect((await screen.findByTestId('model-trouble')).textContent).toBe('The model is not a supported detector: too bad.');
});

test('a server without the engine says so', async () => {
  page(() => Promise.reject(new SightMissing('/engine/weft_onnx.mjs answered 404.')));
  await choose();
  expect((await screen.findByTestId('model-trouble')).textContent).toMatch(/weft_onnx\.mjs answered 404.*\.\/weft build/);
});

test('a model without a GPU says why', async () => {
  page(() => Promise.resolve({ ...detector, device: { kind: 'cpu', name: 'WebAssembly', reason: 'This browser has no WebGPU.' } }));
  await choose();
  expect((await screen.findByTestId('no-gpu')).textContent).toMatch(/^This browser has no WebGPU\. It finds the same, slower/);
});

test('without TLS the camera is explained, and the help with the certificate is open', async () => {
  vi.stubGlobal('isSecureContext', false);
  vi.stubGlobal('navigator', Object.create(navigator, { mediaDevices: { value: undefined } }));
  page(() => Promise.resolve(detector));
  expect(screen.getByTestId('help')).toHaveProperty('open', false);

  await userEvent.click(screen.getByRole('button', { name: 'Camera' }));

  expect((await screen.findByTestId('trouble')).textContent).toMatch(/without TLS/);
  expect(screen.getByTestId('help')).toHaveProperty('open', true);
  expect(screen.getByTestId('help').textContent).toMatch(/--tls-self-signed/);
});
