import { defineConfig } from 'vite';
import { configOf } from '../console-config';

/** The operators' console, which the ops listener serves. `npx vite apps/console/ops` serves its sources as they change. */
export default defineConfig(({ command }) => configOf('/console/ops/', command, 'opsUrl', ['/admin']));
