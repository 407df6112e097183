// The dedicated Worker in which the engine lives. Until the first `start` it holds no WebAssembly.
export {};
