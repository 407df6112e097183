// The dedicated Worker in which the playground's programs run. It loads the contributing tab's WebAssembly as a separate instance, so that
// neither instance waits for the other and a program that fails harms only its own instance.
import type { FromLab, LabCalls, LabMethod, ToLab } from './labMessages';
import { EngineMissing, loadEngine } from './loadEngine';
import type { EngineModule } from './module';

let loading: Promise<EngineModule> | null = null;
function engine(): Promise<EngineModule> {
  // The playground does not contribute, so it handles no events and no lines to other tabs.
  loading ??= loadEngine(
    () => {},
    () => {},
  ).catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function answer(message: ToLab): Promise<LabCalls[LabMethod]['answer']> {
  if (message.method === 'counters') {
    if (loading === null) return null;
    const { gpuWatch } = await loading;
    if (gpuWatch.read().watching !== message.argument) gpuWatch.watch(message.argument);
    return gpuWatch.read();
  }
  const module = await engine();
  switch (message.method) {
    case 'open':
      return module.lab.open();
    case 'measure':
      return module.lab.measure();
    case 'compile':
      return module.lab.compile(message.argument);
    case 'check':
      return module.lab.check(message.argument);
    case 'run':
      return module.lab.run(message.argument);
    case 'sign':
      return module.signRequest(message.argument);
  }
}

const say = (message: FromLab, moved: readonly ArrayBuffer[] = []): void => self.postMessage(message, { transfer: [...moved] });

self.onmessage = (event: MessageEvent<ToLab>) => {
  const { call } = event.data;
  answer(event.data).then(
    (result) => {
      const outputs = event.data.method === 'run' && result !== null && 'outputs' in result ? result.outputs : [];
      say({ call, answer: result }, outputs.map((output) => output.bytes.buffer as ArrayBuffer));
    },
    (error: unknown) => say({ call, refusal: error instanceof Error ? error.message : String(error), missing: error instanceof EngineMissing }),
  );
};
