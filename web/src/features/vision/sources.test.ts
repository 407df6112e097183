import { expect, test, vi } from 'vitest';
import { cameraError, openAddress, openCamera } from './sources';

const devices = (name: string) => ({ getUserMedia: vi.fn().mockRejectedValue(new DOMException('x', name)) }) as unknown as MediaDevices;

test.each([
  ['NotFoundError', 'no-camera', /no camera/],
  ['NotAllowedError', 'refused', /may not use the camera/],
  ['NotReadableError', 'busy', /another program/],
  ['TypeError', 'unreadable', /cannot be opened/],
])('a camera that fails with %s is a sentence', async (name, trouble, words) => {
  const opened = openCamera(devices(name));

  await expect(opened).rejects.toMatchObject({ trouble, message: expect.stringMatching(words) as string });
});

test('a page without TLS has no camera, and says why', async () => {
  vi.stubGlobal('isSecureContext', false);
  await expect(openCamera(undefined)).rejects.toMatchObject({ trouble: 'insecure', message: expect.stringMatching(/without TLS/) as string });
  vi.unstubAllGlobals();
});

test('a camera is asked for 1280 x 720', async () => {
  const camera = devices('NotFoundError');
  await openCamera(camera).catch(() => undefined);
  expect(camera.getUserMedia).toHaveBeenCalledWith(expect.objectContaining({ video: expect.objectContaining({ width: { ideal: 1280 }, height: { ideal: 720 } }) as unknown }));
  expect(cameraError('odd').message).toMatch(/odd/);
});

test('films come over https or from the coordinator', async () => {
  await expect(openAddress('http://elsewhere.example/film.webm')).rejects.toThrow(/https/);
  await expect(openAddress('https://')).rejects.toThrow(/is no address/);
});
