// Shows what this machine offers, as the engine measured it.
import { formatBytes, formatRate } from '../../design/format';
import type { DeviceReport } from '../../engine/messages';

// A feature that is not shown, because every device has it.
const selfEvident = 'core-features-and-limits';

export function MachineCard({ device }: { device: DeviceReport }) {
  const features = device.features.filter((feature) => feature !== selfEvident);
  return (
    <section aria-labelledby="machine-title">
      <h2 id="machine-title" className="text-xl font-semibold tracking-tight">
        This machine
      </h2>
          <p className="mt-2 text-soft" data-testid="device">
            {device.kind === 'cpu' ? 'CPU kernels' : device.description || [device.vendor, device.architecture].filter(Boolean).join(' ') || 'GPU'}
            {device.kind === 'gpu' && device.backend ? ` through ${device.backend === 'webgpu' ? 'WebGPU' : device.backend}` : ''}
          </p>
          <dl className="mt-4 grid max-w-[34rem] grid-cols-2 gap-x-8 gap-y-4 sm:grid-cols-3">
            {device.f32GflopPerS > 0 ? <Fact label="Arithmetic, f32" value={formatRate(device.f32GflopPerS)} unit="GFLOP/s" /> : null}
            {device.copyGbPerS > 0 ? <Fact label="Memory, copied" value={formatRate(device.copyGbPerS)} unit="GB/s" /> : null}
            {device.memoryBytes > 0 ? <Fact label="For one task" value={formatBytes(device.memoryBytes)} unit="" /> : null}
          </dl>
          {features.length > 0 ? (
            <p className="mt-4 max-w-[34rem] text-sm text-soft">
              Also offers <span className="font-mono text-[0.85rem]">{features.join(', ')}</span>
            </p>
          ) : null}
    </section>
  );
}

function Fact({ label, value, unit }: { label: string; value: string; unit: string }) {
  return (
    <div>
      <dt className="text-sm text-soft">{label}</dt>
      <dd className="font-mono text-lg tabular-nums">
        {value} <span className="font-sans text-sm text-soft">{unit}</span>
      </dd>
    </div>
  );
}
