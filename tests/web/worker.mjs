// Runs one WebAssembly program in a Worker, and sends its lines of output and its end as messages.
self.onmessage = async ({ data: { url, args } }) => {
  try {
    const { default: create } = await import(url);
    await create({
      arguments: args,
      print: (line) => self.postMessage({ line }),
      printErr: (errorLine) => self.postMessage({ errorLine }),
      onExit: (exit) => self.postMessage({ exit }),
      onAbort: (what) => self.postMessage({ failed: `The program aborted: ${what}` }),
    });
  } catch (error) {
    self.postMessage({ failed: `The program failed: ${error?.stack ?? error}` });
  }
};
