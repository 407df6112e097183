// Types for the test code of the on-chain program, which is plain JavaScript.
declare module '*/chain/tests/wire.mjs';
declare module '*/chain/tests/tree.mjs';
declare module '*/chain/tests/program.mjs';
