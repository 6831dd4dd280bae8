import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { docsSite } from './docs-site/plugin';

const checkout = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * The build and the development server. Vite compiles JSX itself. `npx vite apps/console` serves the sources as they change,
 * beside a running `npm start`, to which it passes the requests of the APIs.
 */
export default defineConfig(({ command }) => ({
  base: '/console/',
  plugins: [docsSite(checkout('docs'))],
  resolve: { alias: { '@millrace/contracts': checkout('libs/contracts/src/index.ts') } },
  build: {
    // The content security policy allows files of our own and nothing that is written into a page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What is not compressed is not sent: the build writes the compressed files and the api measures them.
    reportCompressedSize: false,
  },
  server: command === 'serve' ? { proxy: toRunningStack() } : {},
}));

/** The listener of the stack that runs in this checkout. The host stays that of the page, as the service demands of browsers. */
function toRunningStack(): Record<string, { target: string; changeOrigin: boolean }> {
  const { publicUrl } = JSON.parse(readFileSync(checkout('.millrace/run.json'), 'utf8')) as { publicUrl: string };
  const target = { target: publicUrl, changeOrigin: false };
  return { '/api': target, '/platform': target, '/deployment': target };
}
