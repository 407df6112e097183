#!/usr/bin/env python3
"""The graph of an ONNX detector, rebuilt in PyTorch, as a peer of `weft onnx bench`: eager and as a captured CUDA graph, from GPU memory to GPU memory.

    python3 bench/peers/onnx_torch.py M.onnx [--batch 1,16] [--dtype f16|f32] [--rounds 200]

Needs torch with CUDA, and onnx. One line of JSON for each batch: milliseconds (median) eager, captured, and by onnxruntime on the processor if that is installed.
"""
import argparse
import json
import statistics
import time

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

parser = argparse.ArgumentParser()
parser.add_argument('model')
parser.add_argument('--batch', default='1,16')
parser.add_argument('--dtype', default='f16', choices=['f16', 'f32'])
parser.add_argument('--rounds', type=int, default=200)
asked = parser.parse_args()

graph = onnx.load(asked.model).graph
dtype = torch.float16 if asked.dtype == 'f16' else torch.float32
known = {}
for tensor in graph.initializer:
    value = numpy_helper.to_array(tensor)
    known[tensor.name] = torch.from_numpy(value.copy()).cuda().to(dtype) if value.dtype == np.float32 else value
attributes = [{a.name: onnx.helper.get_attribute_value(a) for a in node.attribute} for node in graph.node]


def run(x, batch):
    values = dict(known)
    values[graph.input[0].name] = x
    for node, a in zip(graph.node, attributes):
        i = [values[name] if name else None for name in node.input]
        op = node.op_type
        if op == 'Conv':
            p = a.get('pads', [0, 0, 0, 0])
            assert p[0] == p[2] and p[1] == p[3]
            y = F.conv2d(i[0], i[1], i[2] if len(i) > 2 else None, a.get('strides', [1, 1]), p[:2], a.get('dilations', [1, 1]), a.get('group', 1))
        elif op == 'Sigmoid': y = torch.sigmoid(i[0])
        elif op == 'Relu': y = F.relu(i[0])
        elif op in ('Mul', 'Add', 'Sub', 'Div', 'Pow'):
            l, r = (torch.from_numpy(v).cuda().to(dtype) if isinstance(v, np.ndarray) else v for v in i)
            y = {'Mul': torch.mul, 'Add': torch.add, 'Sub': torch.sub, 'Div': torch.div, 'Pow': torch.pow}[op](l, r)
        elif op == 'Concat': y = torch.cat(i, a['axis'])
        elif op == 'MaxPool': y = F.max_pool2d(i[0], a['kernel_shape'], a.get('strides', [1, 1]), a.get('pads', [0, 0, 0, 0])[:2])
        elif op == 'Resize': y = F.interpolate(i[0], scale_factor=2, mode='nearest')
        elif op == 'Upsample': y = F.interpolate(i[0], scale_factor=2, mode='nearest')
        elif op == 'Reshape':
            shape = [int(s) for s in np.asarray(i[1])]
            if shape[0] == 1: shape[0] = batch
            y = i[0].reshape(shape)
        elif op == 'Transpose': y = i[0].permute(*a['perm'])
        elif op == 'Split':
            sizes = [int(s) for s in np.asarray(i[1])] if len(i) > 1 else a.get('split')
            for name, part in zip(node.output, torch.split(i[0], list(sizes), a.get('axis', 0))): values[name] = part
            continue
        elif op == 'Slice':
            starts, ends, axes = (np.asarray(v).tolist() for v in i[1:4])
            y = i[0]
            for s, e, x_ in zip(starts, ends, axes): y = y.narrow(x_, s, min(e, y.shape[x_]) - s)
        elif op == 'DequantizeLinear':
            if node.output[0] not in known:  # `weft onnx quantize` stores these weights in a smaller format; they become floats again before anything is timed.
                weight, scale = i[0], numpy_helper.to_array(next(t for t in graph.initializer if t.name == node.input[1]))
                axis = a.get('axis', 1)
                scale = scale.reshape([-1 if d == axis else 1 for d in range(weight.ndim)]) if scale.ndim else scale
                known[node.output[0]] = torch.from_numpy(weight.astype(np.float32) * scale).cuda().to(dtype)
            y = known[node.output[0]]
        elif op == 'Constant':
            value = numpy_helper.to_array(a['value'])
            y = torch.from_numpy(value.copy()).cuda().to(dtype) if value.dtype == np.float32 else value
        else: raise SystemExit(f'onnx_torch: no rule for {op} ({node.name}).')
        values[node.output[0]] = y
    return [values[o.name] for o in graph.output]


def median(call):
    for _ in range(20): call()
    torch.cuda.synchronize()
    times = []
    for _ in range(asked.rounds):
        begin = torch.cuda.Event(enable_timing=True); end = torch.cuda.Event(enable_timing=True)
        begin.record(); call(); end.record(); end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


shape = [d.dim_value for d in graph.input[0].type.tensor_type.shape.dim]
with torch.no_grad():
    for batch in (int(b) for b in asked.batch.split(',')):
        x = torch.rand([batch] + shape[1:], device='cuda', dtype=dtype)
        run(x, batch)
        row = {'batch': batch, 'dtype': asked.dtype, 'device': torch.cuda.get_device_name(), 'torch': torch.__version__, 'eager_ms': round(median(lambda: run(x, batch)), 4)}
        torch.cuda.synchronize()
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured): outputs = run(x, batch)
        row['captured_ms'] = round(median(captured.replay), 4)
        if batch == 1:
            try:
                import onnxruntime
                session = onnxruntime.InferenceSession(asked.model, providers=['CPUExecutionProvider'])
                feed = {graph.input[0].name: np.random.rand(*shape).astype(np.float32)}
                times = []
                for _ in range(12):
                    begun = time.perf_counter(); session.run(None, feed); times.append((time.perf_counter() - begun) * 1e3)
                row['onnxruntime_processor_ms'] = round(statistics.median(times[2:]), 3)
            except ImportError: pass
        print(json.dumps(row), flush=True)
