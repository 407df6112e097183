// What the devices of this module do, counted where the calls cross to navigator.gpu: an Emscripten --js-library beside
// web.js. The page reads it as Module.gpuWatch; web/src/engine/gpuCounters.ts has the types.
//
// Counting is always on and costs an addition a call. Timelines and the GPU's own clock are on between watch(true) and
// watch(false) only: a timed pass costs a resolve and 256 bytes. What was not measured is absent, never zero.
addToLibrary({
  $weftGpuWatch__deps: ['$weftGpu'],
  $weftGpuWatch__postset: "Module['gpuWatch'] = weftGpuWatch;",
  $weftGpuWatch: {
    on: false,
    spansMax: 600,       // The newest are kept.
    timedPassesMax: 256, // In one submit; those after them are counted, not timed.
    kernelsMax: 200,
    totals: { dispatches: 0, passes: 0, submits: 0, copies: 0, copiedBytes: 0, writes: 0, writtenBytes: 0, reads: 0, readBytes: 0, readSeconds: 0, pipelines: 0 },
    buffers: new Map(),   // Label and usage to { label, usage, count, bytes }; those that exist.
    purposes: new Map(),  // Name to { name, count, bytes, bytesPeak }; all there ever were.
    bytes: 0,
    bytesPeak: 0,
    kernels: new Map(),  // Name to { name, dispatches, timedDispatches, seconds }.
    spans: [],           // { lane, label, from, to, bytes? }, times of performance.now().
    timestamps: null,    // Whether the last device that was watched has timestamp queries.

    watch(on) {
      weftGpuWatch.on = on;
      if (!on) weftGpuWatch.spans = [];
    },
    // A copy, for postMessage.
    read() {
      const w = weftGpuWatch;
      return {
        now: performance.now(), watching: w.on, timestamps: w.timestamps, totals: { ...w.totals }, bytes: w.bytes, bytesPeak: w.bytesPeak,
        buffers: [...w.buffers.values()].map((one) => ({ ...one })), purposes: [...w.purposes.values()].map((one) => ({ ...one })), kernels: [...w.kernels.values()].map((one) => ({ ...one })),
        spans: w.spans.map((one) => ({ ...one })),
      };
    },

    // What a buffer is for, by how it may be used.
    purposeOf({ usage, label }) {
      if (usage & 0x200 /* QUERY_RESOLVE */ || label === 'timer') return 'clocks';
      if (usage & 0x1 /* MAP_READ */) return 'read back';
      if (usage & 0x40 /* UNIFORM */) return 'uniforms';
      return usage & 0x80 /* STORAGE */ ? 'storage' : 'other';
    },
    bufferMade(buffer) {
      const name = weftGpuWatch.purposeOf(buffer);
      const purpose = weftGpuWatch.purposes.get(name) ?? { name, count: 0, bytes: 0, bytesPeak: 0 };
      purpose.count += 1;
      purpose.bytes += buffer.size;
      purpose.bytesPeak = Math.max(purpose.bytesPeak, purpose.bytes);
      weftGpuWatch.purposes.set(name, purpose);

      const key = `${buffer.usage} ${buffer.label}`;
      const known = weftGpuWatch.buffers.get(key) ?? { label: buffer.label, usage: buffer.usage, count: 0, bytes: 0 };
      known.count += 1;
      known.bytes += buffer.size;
      weftGpuWatch.buffers.set(key, known);
      buffer.weftCounted = key;
      weftGpuWatch.bytes += buffer.size;
      weftGpuWatch.bytesPeak = Math.max(weftGpuWatch.bytesPeak, weftGpuWatch.bytes);
    },
    bufferGone(buffer) {
      const known = buffer?.weftCounted && weftGpuWatch.buffers.get(buffer.weftCounted);
      if (!known) return;
      const purpose = weftGpuWatch.purposes.get(weftGpuWatch.purposeOf(buffer));
      purpose.count -= 1;
      purpose.bytes -= buffer.size;
      known.count -= 1;
      known.bytes -= buffer.size;
      weftGpuWatch.bytes -= buffer.size;
      if (known.count === 0) weftGpuWatch.buffers.delete(buffer.weftCounted);
    },

    // Something on this side that takes time: 'compile', 'write' or 'read'.
    begin(lane, label, bytes) {
      const { totals } = weftGpuWatch;
      if (lane === 'compile') totals.pipelines += 1;
      if (lane === 'write') { totals.writes += 1; totals.writtenBytes += bytes; }
      return lane === 'read' || weftGpuWatch.on ? { lane, label: label ?? '', from: performance.now(), ...(bytes === undefined ? {} : { bytes }) } : null;
    },
    end(span) {
      if (!span) return;
      span.to = performance.now();
      if (span.lane === 'read') {
        const { totals } = weftGpuWatch;
        totals.reads += 1;
        totals.readBytes += span.bytes;
        totals.readSeconds += (span.to - span.from) / 1000;
      }
      if (weftGpuWatch.on) weftGpuWatch.keep(span);
    },
    keep(span) {
      weftGpuWatch.spans.push(span);
      if (weftGpuWatch.spans.length > weftGpuWatch.spansMax) weftGpuWatch.spans.shift();
    },

    copied(bytes) {
      weftGpuWatch.totals.copies += 1;
      weftGpuWatch.totals.copiedBytes += bytes;
    },

    // Takes the queries that the pass writes anyway, or gives it a pair of our own.
    passBegun(encoder, descriptor) {
      const w = weftGpuWatch;
      w.totals.passes += 1;
      const pass = { label: descriptor.label, names: new Map(), last: null, queries: null };
      if (!w.on) return pass;
      const device = encoder.weftDevice;
      w.timestamps = device.features.has('timestamp-query');
      encoder.weftPasses ??= [];
      if (!w.timestamps || encoder.weftPasses.length >= w.timedPassesMax) return pass;
      if (!descriptor.timestampWrites) {
        if (!encoder.weftQueries) {
          encoder.weftQueries = device.createQuerySet({ type: 'timestamp', count: 2 * w.timedPassesMax, label: 'watch' });
          encoder.weftQueriesUsed = 0;
        }
        const first = encoder.weftQueriesUsed;
        encoder.weftQueriesUsed += 2;
        descriptor.timestampWrites = { querySet: encoder.weftQueries, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
      }
      pass.queries = { set: descriptor.timestampWrites.querySet, first: descriptor.timestampWrites.beginningOfPassWriteIndex };
      encoder.weftPasses.push(pass);
      return pass;
    },
    // `name` is null where the pipeline stays the same.
    dispatched(pass, name) {
      weftGpuWatch.totals.dispatches += 1;
      if (name !== null) pass.last = name;
      pass.names.set(pass.last, (pass.names.get(pass.last) ?? 0) + 1);
      const kernel = weftGpuWatch.kernel(pass.last);
      if (kernel) kernel.dispatches += 1;
    },
    kernel(name) {
      const { kernels } = weftGpuWatch;
      let known = kernels.get(name);
      if (!known && kernels.size < weftGpuWatch.kernelsMax) kernels.set(name, known = { name, dispatches: 0, timedDispatches: 0, seconds: 0 });
      return known;
    },

    beforeFinish(encoder) {
      const passes = encoder.weftPasses;
      if (!passes?.length) return { passes: [], queries: null };
      const device = encoder.weftDevice;
      const size = 256 * passes.length;  // Where a resolve may go.
      const resolved = device.createBuffer({ size, usage: 0x200 /* QUERY_RESOLVE */ | 0x4 /* COPY_SRC */, label: 'watch' });
      const staging = device.createBuffer({ size, usage: 0x1 /* MAP_READ */ | 0x8 /* COPY_DST */, label: 'watch' });
      passes.forEach(({ queries }, i) => encoder.resolveQuerySet(queries.set, queries.first, 2, resolved, 256 * i));
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
      return { passes, queries: encoder.weftQueries ?? null, resolved, staging };
    },
    submitted(device, { passes, queries, resolved, staging }) {
      const w = weftGpuWatch;
      w.totals.submits += 1;
      if (!w.on) return;
      const span = { lane: 'queue', label: passes[0]?.label ?? '', from: performance.now() };
      device.queue.onSubmittedWorkDone().then(() => w.end(span), () => {});
      if (!staging) return;
      staging.mapAsync(1 /* READ */).then(() => {
        const times = new BigUint64Array(staging.getMappedRange());
        passes.forEach((pass, i) => w.timed(pass, Number(times[32 * i + 1] - times[32 * i]) * 1e-9));
        staging.unmap();
      }, () => {}).finally(() => {
        staging.destroy();
        resolved.destroy();
        queries?.destroy();
      });
    },
    // A pass of one kernel is that kernel's time. A pass of several is named after all of them, since nothing splits it.
    timed(pass, seconds) {
      const names = [...pass.names.keys()];
      if (names.length === 0 || !(seconds >= 0)) return;
      const shown = names.length > 3 ? `${names.slice(0, 2).join(' + ')} + ${names.length - 2} more` : names.join(' + ');
      const kernel = weftGpuWatch.kernel(shown);
      if (!kernel) return;
      const count = [...pass.names.values()].reduce((sum, one) => sum + one, 0);
      if (names.length > 1) kernel.dispatches += count;
      kernel.timedDispatches += count;
      kernel.seconds += seconds;
    },
  },
});
