// A proxy between a worker that serves models and the coordinator that rewrites the messages of
// both on /v1/serve. Together they are a modified worker with an honest engine.
import http from 'node:http';
import net from 'node:net';
import { frames, masked, unmasked } from './sockets.mjs';

/** Reads the end of the HTTP answer that opens a WebSocket, then its frames. */
function afterHead(onHead, onFrame) {
  let begun = Buffer.alloc(0);
  const read = frames(onFrame);
  return (data) => {
    if (begun === null) return read(data);
    begun = Buffer.concat([begun, data]);
    const end = begun.indexOf('\r\n\r\n');
    if (end < 0) return;
    onHead(begun.subarray(0, end + 4));
    const rest = begun.subarray(end + 4);
    begun = null;
    read(rest);
  };
}

/**
 * { url, lie, hear, told }: `lie(message)` gets each JSON message of the worker and returns the message that is sent; `told` counts the changed
 * messages. `hear(message)` does the same with messages to the worker.
 */
export async function lyingServer(t, target, lie, hear = (message) => message) {
  const { hostname, port } = new URL(target);
  const out = { url: '', lie, hear, told: 0 };
  const sockets = new Set();
  const server = http.createServer((request, response) => {
    const onward = http.request({ hostname, port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('upgrade', (request, socket, head) => {
    const onward = net.connect(Number(port), hostname, () => {
      const headers = [];
      for (let i = 0; i < request.rawHeaders.length; i += 2) headers.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
      onward.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
      if (request.url !== '/v1/serve') {
        onward.pipe(socket);
        onward.write(head);
        socket.pipe(onward);
        return;
      }
      onward.on('data', afterHead((text) => socket.write(text), (first, payload) => {
        const heard = (first & 0x0f) === 1 ? Buffer.from(JSON.stringify(out.hear(JSON.parse(payload.toString())))) : payload;
        socket.write(unmasked(first, heard));
      }));
      const read = frames((first, payload) => {
        if ((first & 0x0f) !== 1) return onward.write(masked(first, payload));
        const before = payload.toString();
        const after = JSON.stringify(out.lie(JSON.parse(before)));
        if (after !== JSON.stringify(JSON.parse(before))) ++out.told;
        onward.write(masked(first, Buffer.from(after)));
      });
      read(head);
      socket.on('data', read);
    });
    for (const one of [socket, onward]) sockets.add(one);
    for (const [one, other] of [[onward, socket], [socket, onward]]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  out.url = `http://127.0.0.1:${server.address().port}`;
  return out;
}
