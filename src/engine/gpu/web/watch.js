// Counts and times the work of the devices of this module, where calls go to navigator.gpu: an
// Emscripten --js-library beside web.js. The page reads it as Module.gpuWatch;
// web/src/engine/gpuCounters.ts has the types.
//
// Counting is always on and costs one addition for each call. Timelines and the GPU's own clock are
// on only between watch(true) and watch(false); a pass then ends when its kernel changes, so that
// each kernel has a time of its own. Passes that the engine itself times stay whole. Values that
// were not measured are absent, never zero.
addToLibrary({
  $weftGpuWatch__deps: ['$weftGpu'],
  $weftGpuWatch__postset: "Module['gpuWatch'] = weftGpuWatch;",
  $weftGpuWatch: {
    on: false,
    spansMax: 600,       // The newest spans are kept.
    // Timed passes of one submit, bounded by a query set; later passes are only counted.
    timedPassesMax: 2048,
    othersMax: 64,       // Passes of one submit that have the engine's own queries.
    clocksMax: 8,        // Clocks that are kept for the next submits.
    kernelsMax: 200,
    totals: { dispatches: 0, passes: 0, submits: 0, copies: 0, copiedBytes: 0, writes: 0, writtenBytes: 0, reads: 0, readBytes: 0, readSeconds: 0, pipelines: 0 },
    // Label and usage to { label, usage, count, bytes }, for the buffers that exist.
    buffers: new Map(),
    // Name to { name, count, bytes, bytesPeak }; an entry stays when its last buffer is gone.
    purposes: new Map(),
    bytes: 0,
    bytesPeak: 0,
    kernels: new Map(),  // Name to { name, dispatches, timedDispatches, seconds }.
    spans: [],           // { lane, label, from, to, bytes? }, in times of performance.now().
    timestamps: null,    // True if the last watched device has timestamp queries.

    watch(on) {
      weftGpuWatch.on = on;
      if (!on) weftGpuWatch.spans = [];
    },
    // Returns a copy of all counts, for postMessage.
    read() {
      const w = weftGpuWatch;
      return {
        now: performance.now(), watching: w.on, timestamps: w.timestamps, totals: { ...w.totals }, bytes: w.bytes, bytesPeak: w.bytesPeak,
        buffers: [...w.buffers.values()].map((one) => ({ ...one })), purposes: [...w.purposes.values()].map((one) => ({ ...one })), kernels: [...w.kernels.values()].map((one) => ({ ...one })),
        spans: w.spans.map((one) => ({ ...one })),
      };
    },

    // The purpose of a buffer, derived from its usage and label.
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

    // Begins a span of an action on this side that takes time: 'compile', 'write' or 'read'.
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

    // A query set with the buffers through which it is read, lent to one submit.
    clock(device) {
      const size = 16 * weftGpuWatch.timedPassesMax + 256 * weftGpuWatch.othersMax;
      return (device.weftClocks ??= []).pop() ?? {
        queries: device.createQuerySet({ type: 'timestamp', count: 2 * weftGpuWatch.timedPassesMax, label: 'watch' }),
        resolved: device.createBuffer({ size, usage: 0x200 /* QUERY_RESOLVE */ | 0x4 /* COPY_SRC */, label: 'watch' }),
        staging: device.createBuffer({ size, usage: 0x1 /* MAP_READ */ | 0x8 /* COPY_DST */, label: 'watch' }),
      };
    },
    // Adds timestamp queries to the pass, or notes the queries that the engine itself writes.
    passBegun(encoder, descriptor) {
      const w = weftGpuWatch;
      w.totals.passes += 1;
      const pass = { encoder, label: descriptor.label, names: new Map(), last: null, splits: false, groups: [], immediates: null };
      if (!w.on) return pass;
      const device = encoder.weftDevice;
      w.timestamps = device.features.has('timestamp-query');
      if (!w.timestamps) return pass;
      const timed = (encoder.weftTimed ??= { clock: w.clock(device), own: [], others: [] });
      const given = descriptor.timestampWrites;
      if (given) {
        if (timed.others.length < w.othersMax) timed.others.push({ pass, set: given.querySet, first: given.beginningOfPassWriteIndex });
      } else if (timed.own.length < w.timedPassesMax) {
        const first = 2 * timed.own.length;
        timed.own.push(pass);
        pass.splits = true;
        descriptor.timestampWrites = { querySet: timed.clock.queries, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
      }
      return pass;
    },
    // Returns the pass in which kernel `name` runs: the same pass or, if another kernel ran in it,
    // a new pass in its place with its state.
    split(handle, name) {
      const pass = weftGpu.table[handle];
      const before = pass.weftWatched;
      const { encoder, groups, immediates } = before;
      if (before.last === null || before.last === name || encoder.weftTimed.own.length >= weftGpuWatch.timedPassesMax) return pass;
      pass.end();
      const descriptor = { label: before.label };
      const watched = Object.assign(weftGpuWatch.passBegun(encoder, descriptor), { groups, immediates });
      weftGpuWatch.totals.passes -= 1;
      const next = encoder.beginComputePass(descriptor);
      next.weftWatched = watched;
      groups.forEach((group, i) => next.setBindGroup(i, group));
      if (immediates) next.setImmediates(0, immediates);
      weftGpu.table[handle] = next;
      return next;
    },
    bound(watched, ...groups) {
      groups.forEach((group, i) => { if (group) watched.groups[i] = weftGpu.table[group]; });
    },
    // `name` is null if the pipeline stays the same.
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
      const timed = encoder.weftTimed;
      if (!timed) return null;
      const { clock: { queries, resolved, staging }, own, others } = timed;
      const behind = 16 * weftGpuWatch.timedPassesMax;
      if (own.length) encoder.resolveQuerySet(queries, 0, 2 * own.length, resolved, 0);
      others.forEach(({ set, first }, i) => encoder.resolveQuerySet(set, first, 2, resolved, behind + 256 * i));
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, resolved.size);
      return timed;
    },
    submitted(device, timed) {
      const w = weftGpuWatch;
      w.totals.submits += 1;
      if (w.on) {
        const span = { lane: 'queue', label: timed?.own[0]?.label ?? timed?.others[0]?.pass.label ?? '', from: performance.now() };
        device.queue.onSubmittedWorkDone().then(() => w.end(span), () => {});
      }
      if (!timed) return;
      const { clock, own, others } = timed;
      clock.staging.mapAsync(1 /* READ */).then(() => {
        const times = new BigUint64Array(clock.staging.getMappedRange());
        const seconds = (at) => Number(times[at + 1] - times[at]) * 1e-9;
        own.forEach((pass, i) => w.timed(pass, seconds(2 * i)));
        others.forEach(({ pass }, i) => w.timed(pass, seconds(2 * w.timedPassesMax + 32 * i)));
        clock.staging.unmap();
        if (device.weftClocks.length < w.clocksMax && w.on) device.weftClocks.push(clock);
        else w.letGo(clock);
      }, () => w.letGo(clock));
    },
    letGo(clock) {
      for (const one of [clock.queries, clock.resolved, clock.staging]) one.destroy();
    },
    // The time of a pass with one kernel counts for that kernel. The time of a pass with several
    // kernels counts under all their names, because it cannot be divided.
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
