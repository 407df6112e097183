// The program's own tests are plain JavaScript.
declare module '*/chain/tests/wire.mjs';
declare module '*/chain/tests/tree.mjs';
declare module '*/chain/tests/program.mjs';
