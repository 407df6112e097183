import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// `npm run dev` serves the page alone and passes the coordinator's routes through to this address.
const coordinator = process.env['WEFT_COORDINATOR'] ?? 'http://127.0.0.1:7300';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    target: 'es2023',
    // The bundle has no data: addresses and no inline script, because the page's policy is
    // `default-src 'self'`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
  },
  worker: { format: 'es' },
  server: {
    // The playground imports the repository's examples, which are outside of this folder.
    fs: { allow: ['..'] },
    // The coordinator refuses requests of pages from other origins. The development server has
    // another origin, so it sends the coordinator's.
    proxy: { '/v1': { target: coordinator, ws: true, changeOrigin: true, headers: { origin: coordinator } }, '/healthz': coordinator },
  },
  test: {
    environment: 'happy-dom',
    setupFiles: ['./test/setup.ts'],
    include: ['src/**/*.test.{ts,tsx}'],
    restoreMocks: true,
    testTimeout: 60_000,
  },
});
