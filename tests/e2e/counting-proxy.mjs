// A proxy between a browser and the coordinator that counts the transferred bytes of answers by
// path, without frames of WebSockets. Answers from the browser's caches do not pass it.
import http from 'node:http';
import net from 'node:net';

/** { url, asked, cut() }: `cut` breaks all connections and lets none through until `mend`. `asked` is [{ method, path, status, bytes }] since the last `asked.splice(0)`. */
export async function countingProxy(t, target) {
  const { hostname, port } = new URL(target);
  const asked = [];
  const sockets = new Set();
  let broken = false;
  const server = http.createServer((request, response) => {
    const one = { method: request.method, path: request.url, status: 0, bytes: 0 };
    asked.push(one);
    const onward = http.request({ hostname, port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
      one.status = answer.statusCode;
      response.writeHead(answer.statusCode, answer.headers);
      answer.on('data', (data) => { one.bytes += data.length; });
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connection', (socket) => {
    if (broken) return socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => {
    const onward = net.connect(Number(port), hostname, () => {
      const headers = [];
      for (let i = 0; i < request.rawHeaders.length; i += 2) headers.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
      onward.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
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
  const cut = () => {
    broken = true;
    for (const socket of sockets) socket.destroy();
  };
  const mend = () => { broken = false; };
  return { url: `http://127.0.0.1:${server.address().port}`, asked, cut, mend };
}
