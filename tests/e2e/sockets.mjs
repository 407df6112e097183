// WebSockets written by hand for the tests' workers and coordinators: whole frames of text and
// bytes only.
import crypto from 'node:crypto';
import http from 'node:http';

/** Reads text and binary frames (a client's are masked) one at a time; `take(head, payload)` gets each. */
export function frames(take) {
  let held = Buffer.alloc(0);
  return (data) => {
    held = Buffer.concat([held, data]);
    for (;;) {
      if (held.length < 2) return;
      let length = held[1] & 0x7f;
      let at = 2;
      if (length === 126) {
        if (held.length < 4) return;
        length = held.readUInt16BE(2);
        at = 4;
      } else if (length === 127) {
        if (held.length < 10) return;
        length = Number(held.readBigUInt64BE(2));
        at = 10;
      }
      const masks = (held[1] & 0x80) !== 0 ? 4 : 0;
      if (held.length < at + masks + length) return;
      const mask = held.subarray(at, at + masks);
      const payload = Buffer.from(held.subarray(at + masks, at + masks + length));
      for (let i = 0; masks > 0 && i < length; ++i) payload[i] ^= mask[i % 4];
      const head = held[0];
      held = held.subarray(at + masks + length);
      take(head, payload);
    }
  };
}

function framed(head, payload, mask) {
  const length = payload.length < 126 ? Buffer.from([mask | payload.length]) : Buffer.alloc(payload.length < 65536 ? 3 : 9);
  if (length.length === 3) {
    length[0] = mask | 126;
    length.writeUInt16BE(payload.length, 1);
  } else if (length.length === 9) {
    length[0] = mask | 127;
    length.writeBigUInt64BE(BigInt(payload.length), 1);
  }
  return Buffer.concat([Buffer.from([head]), length, Buffer.alloc(mask === 0 ? 0 : 4), payload]);
}
export const masked = (head, payload) => framed(head, payload, 0x80);
export const unmasked = (head, payload) => framed(head, payload, 0);

const textFrame = 0x81;
const kindOf = (head) => head & 0x0f;

/** { say(message), send(bytes), end } over an open socket. `hear` gets each message, and `bytes` each binary frame. */
function talk(socket, first, frame, hear, bytes) {
  const read = frames((head, payload) => {
    if (kindOf(head) === 1) hear(JSON.parse(payload.toString()));
    if (kindOf(head) === 2) bytes(payload);
    if (kindOf(head) === 9) socket.write(frame(0x8a, payload));  // A ping.
    if (kindOf(head) === 8) socket.end();
  });
  read(first);
  socket.on('data', read);
  socket.on('error', () => socket.destroy());
  return { say: (message) => socket.write(frame(textFrame, Buffer.from(JSON.stringify(message)))), send: (bytes) => socket.write(frame(0x82, bytes)), end: () => socket.destroy(), socket };
}

/** Opens the worker's end of a WebSocket. */
export function join(url, { hear, bytes = () => {} }) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': crypto.randomBytes(16).toString('base64') } });
    request.on('upgrade', (_, socket, first) => resolve(talk(socket, first, masked, hear, bytes)));
    request.on('response', (answer) => reject(new Error(`${url} answers ${answer.statusCode}`)));
    request.on('error', reject);
    request.end();
  });
}

/** Opens the coordinator's end of a WebSocket, from a request to upgrade. */
export function accept(request, socket, first, { hear, bytes = () => {} }) {
  const answer = crypto.createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${answer}\r\n\r\n`);
  return talk(socket, first, unmasked, hear, bytes);
}
