import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { UserConfig } from 'vite';

/** A path in this checkout. */
export const checkout = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * The build and the development server of a console. Vite compiles JSX itself. The development server serves the sources as they
 * change, beside a running `npm start`, to which it passes the requests of the APIs.
 *
 * @param base where the pages are served.
 * @param listener of the running stack, and `apis`: the paths that it answers.
 */
export function configOf(
  base: string,
  command: 'build' | 'serve',
  listener: 'publicUrl' | 'opsUrl',
  apis: string[],
): UserConfig {
  return {
    base,
    resolve: { alias: { '@millrace/contracts': checkout('libs/contracts/src/index.ts') } },
    build: {
      // The content security policy allows files of our own and nothing that is written into a page.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // What is not compressed is not sent: the build writes the compressed files and the api measures them.
      reportCompressedSize: false,
    },
    server: command === 'serve' ? { proxy: toRunningStack(listener, apis) } : {},
  };
}

/** To the stack that runs in this checkout. The host stays that of the page, as the service demands of browsers. */
function toRunningStack(
  listener: 'publicUrl' | 'opsUrl',
  apis: string[],
): Record<string, { target: string; changeOrigin: boolean }> {
  const run = JSON.parse(readFileSync(checkout('.millrace/run.json'), 'utf8')) as Record<typeof listener, string>;
  return Object.fromEntries(apis.map((api) => [api, { target: run[listener], changeOrigin: false }]));
}
