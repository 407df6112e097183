// Stands between a worker that serves models and the coordinator, and rewrites what the worker says on /v1/serve: a modified worker, with an
// honest engine behind it.
import http from 'node:http';
import net from 'node:net';

/** Masked text and binary frames of a client, one at a time; `take(opcode, payload, final)` gets each. */
function frames(take) {
  let held = Buffer.alloc(0);
  return (data) => {
    held = Buffer.concat([held, data]);
    for (;;) {
      if (held.length < 6) return;
      let length = held[1] & 0x7f;
      let at = 2;
      if (length === 126) {
        if (held.length < 8) return;
        length = held.readUInt16BE(2);
        at = 4;
      } else if (length === 127) {
        if (held.length < 14) return;
        length = Number(held.readBigUInt64BE(2));
        at = 10;
      }
      if (held.length < at + 4 + length) return;
      const mask = held.subarray(at, at + 4);
      const payload = Buffer.from(held.subarray(at + 4, at + 4 + length));
      for (let i = 0; i < length; ++i) payload[i] ^= mask[i % 4];
      const head = held[0];
      held = held.subarray(at + 4 + length);
      take(head, payload);
    }
  };
}

function masked(head, payload) {
  const length = payload.length < 126 ? Buffer.from([0x80 | payload.length]) : Buffer.alloc(payload.length < 65536 ? 3 : 9);
  if (length.length === 3) {
    length[0] = 0x80 | 126;
    length.writeUInt16BE(payload.length, 1);
  } else if (length.length === 9) {
    length[0] = 0x80 | 127;
    length.writeBigUInt64BE(BigInt(payload.length), 1);
  }
  return Buffer.concat([Buffer.from([head]), length, Buffer.alloc(4), payload]);
}

/** { url, lie, told }: `lie(message)` is given each JSON message of the worker and returns the one that is sent; `told` counts those it changed. */
export async function lyingServer(t, target, lie) {
  const { hostname, port } = new URL(target);
  const out = { url: '', lie, told: 0 };
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
      onward.pipe(socket);
      if (request.url !== '/v1/serve') {
        onward.write(head);
        socket.pipe(onward);
        return;
      }
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
