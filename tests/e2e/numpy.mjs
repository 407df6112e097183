// Reads and writes NumPy files, with which ONNX's tools exchange tensors.
import fs from 'node:fs';

/** The bytes of a NumPy file of f32. */
export function npy(shape, values) {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  const padded = header.padEnd(Math.ceil((10 + header.length + 1) / 64) * 64 - 11) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY', 'latin1');
  head[6] = 1;
  head.writeUInt16LE(padded.length, 8);
  return Buffer.concat([head, Buffer.from(padded, 'latin1'), Buffer.from(Float32Array.from(values).buffer)]);
}

/** The numbers of a NumPy file of f32. */
export function floats(file) {
  const bytes = fs.readFileSync(file);
  const data = bytes.subarray(10 + bytes.readUInt16LE(8));
  return [...new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length))];
}
