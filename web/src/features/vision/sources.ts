// Sources of pictures: a camera, a file, an address. The message of each error is one sentence that says what to do.

export type Source = {
  readonly name: string;
  /** The element in which a film plays; null for a picture. */
  readonly video: HTMLVideoElement | null;
  readonly picture: ImageBitmap | null;
  close(): void;
};

export type SourceTrouble = 'insecure' | 'no-camera' | 'refused' | 'busy' | 'unreadable';
export class SourceError extends Error {
  readonly trouble: SourceTrouble;
  constructor(trouble: SourceTrouble, message: string) {
    super(message);
    this.trouble = trouble;
  }
}

function element(): HTMLVideoElement {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  return video;
}

/** Stops a film or camera, so that the browser releases the camera or the file. */
function ended(video: HTMLVideoElement): void {
  video.pause();
  video.srcObject = null;
  video.removeAttribute('src');
  video.load();
}

export async function openCamera(devices: MediaDevices | undefined = navigator.mediaDevices as MediaDevices | undefined): Promise<Source> {
  if (devices === undefined) {
    throw new SourceError('insecure', globalThis.isSecureContext ? 'This browser gives pages no camera.' : 'This page came without TLS, so the browser gives it no camera.');
  }
  let stream: MediaStream;
  try {
    stream = await devices.getUserMedia({ audio: false, video: { width: { ideal: 1280 }, height: { ideal: 720 }, facingMode: { ideal: 'environment' } } });
  } catch (error) {
    throw cameraError(error);
  }
  const video = element();
  video.srcObject = stream;
  const stop = () => stream.getTracks().forEach((track) => track.stop());
  try {
    await video.play();
  } catch (error) {
    stop();
    throw new SourceError('unreadable', `The camera gives no picture: ${error instanceof Error ? error.message : String(error)}`);
  }
  return {
    name: stream.getVideoTracks()[0]?.label || 'Camera',
    video,
    picture: null,
    close: () => {
      stop();
      ended(video);
    },
  };
}

export function cameraError(error: unknown): SourceError {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  switch (name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return new SourceError('refused', "This page may not use the camera. Allow it in the browser's settings for this page (the sign left of the address), then press the button again.");
    case 'NotFoundError':
    case 'OverconstrainedError':
      return new SourceError('no-camera', 'This machine has no camera. Connect one, or take a file.');
    case 'NotReadableError':
    case 'AbortError':
      return new SourceError('busy', 'The camera cannot be read; perhaps another program uses it. Close that, then press the button again.');
    default:
      return new SourceError('unreadable', `The camera cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function playing(video: HTMLVideoElement, source: string, trouble: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = () => reject(new SourceError('unreadable', trouble));
    video.onerror = failed;
    video.onloadeddata = () => {
      video.onerror = video.onloadeddata = null;
      video.play().then(resolve, failed);
    };
    video.loop = true;
    video.src = source;
  });
}

export async function openFile(file: File): Promise<Source> {
  const trouble = `This browser cannot read ${file.name} as a film or a picture. Take a JPEG, PNG, WebM or MP4 file.`;
  if (!file.type.startsWith('video/')) {
    // Reads the pixel values of the file unchanged, as `weft detect` does, because converting colours would change what a detector finds.
    const picture = await createImageBitmap(file, { colorSpaceConversion: 'none' }).catch(() => {
      throw new SourceError('unreadable', trouble);
    });
    return { name: file.name, video: null, picture, close: () => picture.close() };
  }
  const video = element();
  const address = URL.createObjectURL(file);
  const close = () => {
    ended(video);
    URL.revokeObjectURL(address);
  };
  await playing(video, address, trouble).catch((error: unknown) => {
    close();
    throw error;
  });
  return { name: file.name, video, picture: null, close };
}

/** Opens a film at an address whose server lets other pages read it. */
export async function openAddress(address: string): Promise<Source> {
  let url: URL;
  try {
    url = new URL(address, window.location.href);
  } catch {
    throw new SourceError('unreadable', `“${address}” is no address.`);
  }
  if (url.protocol !== 'https:' && url.origin !== window.location.origin) {
    throw new SourceError('unreadable', 'A film comes from an https address or from this coordinator.');
  }
  const video = element();
  // The page can read a film's pixels only with permission of its server (CORS).
  video.crossOrigin = 'anonymous';
  await playing(video, url.href, `The film at ${url.host} does not play here. Its server must let other pages read it (CORS); else save the film and take it as a file.`).catch((error: unknown) => {
    ended(video);
    throw error;
  });
  return { name: url.href, video, picture: null, close: () => ended(video) };
}
