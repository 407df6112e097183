// Implements the imports of web_backend.cpp with navigator.gpu, as an Emscripten --js-library;
// imports.h describes the interface. Views of the heap are taken again after every await, because
// growth replaces them. No exception leaves an import, because C++ is built without exceptions. A
// trap in resumed C++ is rethrown as an uncaught error, so that the page sees it; a promise would
// hide it.
addToLibrary({
  $weftGpu: { table: [null], free: [] },

  $weftGpuPut__deps: ['$weftGpu'],
  $weftGpuPut: (object) => {
    const handle = weftGpu.free.pop() ?? weftGpu.table.length;
    weftGpu.table[handle] = object;
    return handle;
  },
  $weftGpuText__deps: ['$UTF8ToString'],
  $weftGpuText: (pointer, size) => size ? UTF8ToString(pointer, size) : '',

  // Calls back into C++ with a text, and rethrows a trap in a microtask.
  $weftGpuCall__deps: ['$stringToNewUTF8', '$lengthBytesUTF8', 'free'],
  $weftGpuCall: (call, text) => {
    const pointer = text ? stringToNewUTF8(text) : 0;
    try {
      call(pointer, text ? lengthBytesUTF8(text) : 0);
    } catch (error) {
      if (error !== 'unwind' && error?.name !== 'ExitStatus') queueMicrotask(() => { throw error; });
    } finally {
      if (pointer) _free(pointer);
    }
  },
  $weftGpuDone__deps: ['$weftGpuCall', 'weft_gpu_complete'],
  $weftGpuDone: (callback, status, value, text) =>
    weftGpuCall((pointer, size) => _weft_gpu_complete(callback, status, value, pointer, size), text),

  // Runs asynchronous work, which resolves to [value, text] or throws an error, perhaps with a
  // weftStatus.
  $weftGpuAsync__deps: ['$weftGpuDone'],
  $weftGpuAsync: (callback, work) => {
    work().then(
      ([value, text]) => weftGpuDone(callback, 0, value, text),
      (error) => weftGpuDone(callback, error?.weftStatus ?? 3, 0, String(error?.message || error).trimEnd()));
  },
  $weftGpuError: (status, message) => Object.assign(new Error(message), { weftStatus: status }),

  // An exception that WebGPU throws at once, instead of an error for a scope, is a bug of this
  // code: it is reported, and the requested object is missing.
  $weftGpuGuard__deps: ['$weftGpuEvent'],
  $weftGpuGuard: (device, work) => {
    try {
      return work();
    } catch (error) {
      weftGpuEvent(device, false, String(error?.message || error));
      return 0;
    }
  },
  $weftGpuEvent__deps: ['$weftGpuCall', 'weft_gpu_event'],
  $weftGpuEvent: (device, lost, text) => {
    if (!device?.weftListener) { console.error('gpu: ' + text); return; }
    const listener = device.weftListener;
    if (lost) device.weftListener = 0;
    weftGpuCall((pointer, size) => _weft_gpu_event(listener, +lost, pointer, size), text || ' ');
  },

  $weftGpuAdapter__deps: ['$weftGpuError'],
  $weftGpuAdapter: async () => {
    if (!globalThis.isSecureContext) throw weftGpuError(4, 'This page is not secure, so the browser gives it no WebGPU: it needs https or localhost.');
    if (!globalThis.navigator?.gpu) throw weftGpuError(4, 'This browser has no WebGPU.');
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw weftGpuError(4, 'This browser offers no GPU.');
    return adapter;
  },
  // Describes adapter and device in lines of KEY=VALUE.
  $weftGpuDescribe: (adapter, device) => {
    const info = adapter.info;
    const clean = (text) => String(text ?? '').replace(/\n/g, ' ');
    const lines = [`vendor=${clean(info.vendor)}`, `architecture=${clean(info.architecture)}`, `device=${clean(info.device)}`,
      `description=${clean(info.description)}`, `fallback=${+Boolean(info.isFallbackAdapter)}`, `subgroup_min=${info.subgroupMinSize ?? 0}`,
      `subgroup_max=${info.subgroupMaxSize ?? 0}`, `features=${[...adapter.features].sort().join(' ')}`,
      `wgsl=${[...navigator.gpu.wgslLanguageFeatures].sort().join(' ')}`];
    const matrices = [...(info.subgroupMatrixConfigs ?? [])].map((c) => `${c.componentType}:${c.resultComponentType}:${c.M}:${c.N}:${c.K}`);
    lines.push(`subgroup_matrices=${matrices.join(' ')}`);
    if (device) lines.push(`enabled=${[...device.features].sort().join(' ')}`);
    for (const name in adapter.limits) {
      lines.push(`adapter.${name}=${adapter.limits[name]}`);
      if (device) lines.push(`device.${name}=${device.limits[name]}`);
    }
    return lines.join('\n');
  },

  weft_gpu_adapter__deps: ['$weftGpuAsync', '$weftGpuAdapter', '$weftGpuDescribe'],
  weft_gpu_adapter__sig: 'vp',
  weft_gpu_adapter: (callback) => weftGpuAsync(callback, async () => [0, weftGpuDescribe(await weftGpuAdapter())]),

  weft_gpu_device__deps: ['$weftGpuAsync', '$weftGpuAdapter', '$weftGpuDescribe', '$weftGpuPut', '$weftGpuText', '$weftGpuEvent'],
  weft_gpu_device__sig: 'vpppipi',
  weft_gpu_device: (callback, listener, label, labelSize, features, featuresSize) => {
    const name = weftGpuText(label, labelSize);
    const wanted = weftGpuText(features, featuresSize).split(' ');
    weftGpuAsync(callback, async () => {
      const adapter = await weftGpuAdapter();
      const requiredLimits = {};
      for (const limit in adapter.limits) {
        if (typeof adapter.limits[limit] === 'number') requiredLimits[limit] = adapter.limits[limit];
      }
      const requiredFeatures = wanted.filter((feature) => adapter.features.has(feature));
      const device = await adapter.requestDevice({ label: name, requiredFeatures, requiredLimits });
      device.weftListener = listener;
      device.onuncapturederror = (event) => weftGpuEvent(device, false, event.error.message.trimEnd());
      device.lost.then((info) => {
        device.onuncapturederror = null;
        weftGpuEvent(device, true, info.message || info.reason);
      });
      return [weftGpuPut(device), weftGpuDescribe(adapter, device)];
    });
  },

  weft_gpu_destroy__deps: ['$weftGpu'],
  weft_gpu_destroy: (device) => { weftGpu.table[device].destroy(); },

  weft_gpu_buffer__deps: ['$weftGpu', '$weftGpuPut', '$weftGpuText', '$weftGpuGuard', '$weftGpuWatch'],
  weft_gpu_buffer__sig: 'iidipi',
  weft_gpu_buffer: (d, size, usage, label, labelSize) => {
    const device = weftGpu.table[d];
    return weftGpuGuard(device, () => {
      const buffer = device.createBuffer({ size, usage, label: weftGpuText(label, labelSize) });
      buffer.weftDevice = device;
      weftGpuWatch.bufferMade(buffer);
      return weftGpuPut(buffer);
    });
  },

  weft_gpu_bind_group__deps: ['$weftGpu', '$weftGpuPut', '$weftGpuGuard'],
  weft_gpu_bind_group__sig: 'iiiiippp',
  weft_gpu_bind_group: (d, pipeline, group, count, bindings, buffers, ranges) => {
    const device = weftGpu.table[d];
    return weftGpuGuard(device, () => {
      const entries = [];
      for (let i = 0; i < count; ++i) {
        const resource = { buffer: weftGpu.table[HEAPU32[buffers / 4 + i]], offset: HEAPF64[ranges / 8 + 2 * i] };
        const size = HEAPF64[ranges / 8 + 2 * i + 1];
        if (size >= 0) resource.size = size;
        entries.push({ binding: HEAPU32[bindings / 4 + i], resource });
      }
      return weftGpuPut(device.createBindGroup({ layout: weftGpu.table[pipeline].groups[group], entries }));
    });
  },

  weft_gpu_timestamps__deps: ['$weftGpu', '$weftGpuPut', '$weftGpuGuard'],
  weft_gpu_timestamps: (d, count) => {
    const device = weftGpu.table[d];
    return weftGpuGuard(device, () => weftGpuPut(device.createQuerySet({ type: 'timestamp', count })));
  },

  // Formats messages as records of KIND US LINE US COLUMN US TEXT RS.
  $weftGpuMessages: (info) => info.messages.map((m) => [m.type, m.lineNum, m.linePos, m.message].join('\x1f') + '\x1e').join(''),

  weft_gpu_pipeline__deps: ['$weftGpu', '$weftGpuAsync', '$weftGpuPut', '$weftGpuText', '$weftGpuError', '$weftGpuWatch'],
  weft_gpu_pipeline__sig: 'vpipipipipipipi',
  weft_gpu_pipeline: (callback, d, wgsl, wgslSize, entry, entrySize, name, nameSize, layout, layoutCount, names, namesSize, values, immediateSize) => {
    const device = weftGpu.table[d];
    const label = weftGpuText(name, nameSize);
    const code = weftGpuText(wgsl, wgslSize);
    const entryPoint = weftGpuText(entry, entrySize);
    const kinds = ['uniform', 'read-only-storage', 'storage'];
    const groups = [];
    for (let i = layout / 4, end = i + layoutCount; i < end;) {
      const group = [];
      for (let n = HEAPU32[i++]; n > 0; --n, i += 2) {
        group.push({ binding: HEAPU32[i], visibility: 4 /* COMPUTE */, buffer: { type: kinds[HEAPU32[i + 1]] } });
      }
      groups.push(group);
    }
    const constants = {};
    if (namesSize) weftGpuText(names, namesSize).split('\n').forEach((key, i) => { constants[key] = HEAPF64[values / 8 + i]; });

    weftGpuAsync(callback, async () => {
      const watched = weftGpuWatch.begin('compile', `${label} ${entryPoint}`);
      let module, layouts, made, scope;
      device.pushErrorScope('validation');
      try {
        module = device.createShaderModule({ label, code });
        layouts = groups.map((entries) => device.createBindGroupLayout({ label, entries }));
        const pipelineLayout = { label, bindGroupLayouts: layouts };
        if (immediateSize) pipelineLayout.immediateSize = immediateSize;
        made = device.createComputePipelineAsync({ label, layout: device.createPipelineLayout(pipelineLayout), compute: { module, entryPoint, constants } });
      } catch (error) {
        made = Promise.reject(weftGpuError(1, String(error.message)));
      } finally {
        scope = device.popErrorScope();
      }
      const [info, error, pipeline] = await Promise.allSettled([module?.getCompilationInfo(), scope, made]);
      weftGpuWatch.end(watched);
      // The compiler's message is preferred, because it has line and column.
      const message = info.value?.messages.find((m) => m.type === 'error');
      if (message) throw weftGpuError(1, `${message.lineNum}:${message.linePos}: ${message.message}`);
      if (error.value) throw weftGpuError(1, error.value.message);
      if (pipeline.status === 'rejected') {
        throw weftGpuError(pipeline.reason.weftStatus ?? (pipeline.reason.reason === 'validation' ? 1 : 3), pipeline.reason.message);
      }
      return [weftGpuPut({ pipeline: pipeline.value, groups: layouts, name: entryPoint === 'main' ? label : `${label} ${entryPoint}` })];
    });
  },

  weft_gpu_messages__deps: ['$weftGpu', '$weftGpuAsync', '$weftGpuText', '$weftGpuMessages'],
  weft_gpu_messages__sig: 'vpipi',
  weft_gpu_messages: (callback, d, wgsl, wgslSize) => {
    const device = weftGpu.table[d];
    const code = weftGpuText(wgsl, wgslSize);
    weftGpuAsync(callback, async () => {
      device.pushErrorScope('validation');
      const module = device.createShaderModule({ code });
      device.popErrorScope().catch(() => {});
      return [0, weftGpuMessages(await module.getCompilationInfo())];
    });
  },

  weft_gpu_release__deps: ['$weftGpu', '$weftGpuWatch'],
  weft_gpu_release: (handle, destroy) => {
    weftGpuWatch.bufferGone(weftGpu.table[handle]);
    if (destroy) weftGpu.table[handle].destroy();
    weftGpu.table[handle] = null;
    weftGpu.free.push(handle);
  },

  weft_gpu_encoder__deps: ['$weftGpu', '$weftGpuPut', '$weftGpuText'],
  weft_gpu_encoder__sig: 'iipi',
  weft_gpu_encoder: (d, label, labelSize) => {
    const device = weftGpu.table[d];
    const encoder = device.createCommandEncoder({ label: weftGpuText(label, labelSize) });
    encoder.weftDevice = device;
    return weftGpuPut(encoder);
  },

  weft_gpu_begin_pass__deps: ['$weftGpu', '$weftGpuPut', '$weftGpuText', '$weftGpuWatch'],
  weft_gpu_begin_pass__sig: 'iipiiii',
  weft_gpu_begin_pass: (encoder, label, labelSize, querySet, begin, end) => {
    const descriptor = { label: weftGpuText(label, labelSize) };
    if (querySet) descriptor.timestampWrites = { querySet: weftGpu.table[querySet], beginningOfPassWriteIndex: begin, endOfPassWriteIndex: end };
    const recorder = weftGpu.table[encoder];
    const watched = weftGpuWatch.passBegun(recorder, descriptor);
    const pass = recorder.beginComputePass(descriptor);
    pass.weftWatched = watched;
    return weftGpuPut(pass);
  },

  weft_gpu_dispatch__deps: ['$weftGpu', '$weftGpuWatch'],
  weft_gpu_dispatch: (p, pipeline, g0, g1, g2, g3, x, y, z) => {
    const table = weftGpu.table;
    const watching = table[p].weftWatched.splits;
    const pass = watching && pipeline ? weftGpuWatch.split(p, table[pipeline].name) : table[p];
    if (watching) weftGpuWatch.bound(pass.weftWatched, g0, g1, g2, g3);
    if (pipeline) pass.setPipeline(table[pipeline].pipeline);
    if (g0) pass.setBindGroup(0, table[g0]);
    if (g1) pass.setBindGroup(1, table[g1]);
    if (g2) pass.setBindGroup(2, table[g2]);
    if (g3) pass.setBindGroup(3, table[g3]);
    pass.dispatchWorkgroups(x >>> 0, y >>> 0, z >>> 0);
    weftGpuWatch.dispatched(pass.weftWatched, pipeline ? table[pipeline].name : null);
  },

  weft_gpu_immediates__deps: ['$weftGpu', '$weftGpuGuard'],
  weft_gpu_immediates__sig: 'vipi',
  weft_gpu_immediates: (pass, bytes, size) => { 
    const { weftWatched } = weftGpu.table[pass];
    if (weftWatched.splits) weftWatched.immediates = HEAPU8.slice(bytes, bytes + size);
    weftGpuGuard(null, () => weftGpu.table[pass].setImmediates(0, HEAPU8, bytes, size));
  },

  weft_gpu_end_pass__deps: ['$weftGpu'],
  weft_gpu_end_pass: (pass) => {
    weftGpu.table[pass].end();
    weftGpu.table[pass] = null;
    weftGpu.free.push(pass);
  },

  weft_gpu_copy__deps: ['$weftGpu', '$weftGpuGuard', '$weftGpuWatch'],
  weft_gpu_copy__sig: 'viididd',
  weft_gpu_copy: (e, source, sourceOffset, destination, destinationOffset, size) => {
    const table = weftGpu.table;
    weftGpuWatch.copied(size);
    weftGpuGuard(null, () => table[e].copyBufferToBuffer(table[source], sourceOffset, table[destination], destinationOffset, size));
  },

  weft_gpu_clear__deps: ['$weftGpu', '$weftGpuGuard'],
  weft_gpu_clear__sig: 'viidd',
  weft_gpu_clear: (encoder, buffer, offset, size) => { weftGpuGuard(null, () => weftGpu.table[encoder].clearBuffer(weftGpu.table[buffer], offset, size)); },

  weft_gpu_resolve__deps: ['$weftGpu', '$weftGpuGuard'],
  weft_gpu_resolve__sig: 'viiiiid',
  weft_gpu_resolve: (encoder, querySet, first, count, destination, offset) => {
    const table = weftGpu.table;
    weftGpuGuard(null, () => table[encoder].resolveQuerySet(table[querySet], first, count, table[destination], offset));
  },

  weft_gpu_submit__deps: ['$weftGpu', '$weftGpuWatch'],
  weft_gpu_submit: (d, encoder) => {
    const device = weftGpu.table[d];
    const watched = weftGpuWatch.beforeFinish(weftGpu.table[encoder]);
    device.queue.submit([weftGpu.table[encoder].finish()]);
    weftGpuWatch.submitted(device, watched);
    weftGpu.table[encoder] = null;
    weftGpu.free.push(encoder);
  },

  weft_gpu_write__deps: ['$weftGpu', '$weftGpuGuard', '$weftGpuWatch'],
  weft_gpu_write__sig: 'viidpd',
  weft_gpu_write: (d, buffer, offset, bytes, size) => {
    const device = weftGpu.table[d];
    const watched = weftGpuWatch.begin('write', weftGpu.table[buffer]?.label, size);
    weftGpuGuard(device, () => device.queue.writeBuffer(weftGpu.table[buffer], offset, HEAPU8, bytes, size));
    weftGpuWatch.end(watched);
  },

  weft_gpu_read__deps: ['$weftGpu', '$weftGpuAsync', '$weftGpuError', '$weftGpuWatch', 'weft_gpu_wanted'],
  weft_gpu_read__sig: 'vpiddp',
  weft_gpu_read: (callback, handle, offset, size, out) => {
    const buffer = weftGpu.table[handle];
    weftGpuAsync(callback, async () => {
      const watched = weftGpuWatch.begin('read', buffer.label, size);
      try {
        await buffer.mapAsync(1 /* READ */, offset, size);
      } catch (error) {
        // A loss also ends waiting reads with this error, a little before the device reports the
        // loss.
        const lost = error.name === 'AbortError' &&
          await Promise.race([buffer.weftDevice.lost, new Promise((resolve) => setTimeout(resolve, 200, null))]);
        if (lost) throw weftGpuError(5, lost.message || lost.reason);
        throw weftGpuError(1, 'A buffer cannot be read: ' + error.message);
      }
      if (_weft_gpu_wanted(callback)) HEAPU8.set(new Uint8Array(buffer.getMappedRange(offset, size)), out);
      buffer.unmap();
      weftGpuWatch.end(watched);
      return [0];
    });
  },

  weft_gpu_idle__deps: ['$weftGpu', '$weftGpuAsync'],
  weft_gpu_idle__sig: 'vpi',
  weft_gpu_idle: (callback, device) => weftGpuAsync(callback, async () => {
    await weftGpu.table[device].queue.onSubmittedWorkDone();
    return [0];
  }),

  weft_gpu_push_scope__deps: ['$weftGpu'],
  weft_gpu_push_scope: (device, filter) => { weftGpu.table[device].pushErrorScope(['validation', 'out-of-memory', 'internal'][filter]); },

  weft_gpu_pop_scope__deps: ['$weftGpu', '$weftGpuAsync', '$weftGpuError'],
  weft_gpu_pop_scope__sig: 'vpi',
  weft_gpu_pop_scope: (callback, device) => weftGpuAsync(callback, async () => {
    const error = await weftGpu.table[device].popErrorScope();
    if (!error) return [0];
    throw weftGpuError(error instanceof GPUValidationError ? 1 : error instanceof GPUOutOfMemoryError ? 2 : 3, error.message);
  }),
});
