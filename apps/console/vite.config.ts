import { defineConfig } from 'vite';
import { checkout, configOf } from './console-config';
import { docsSite } from './docs-site/plugin';

/** The console of accounts. `npx vite apps/console` serves its sources as they change. */
export default defineConfig(({ command }) => ({
  ...configOf('/console/', command, 'publicUrl', ['/api', '/platform', '/deployment']),
  plugins: [docsSite(checkout('docs'))],
}));
