import { join } from 'node:path';
import 'reflect-metadata';
import { openTracing, readSettings, runMain, type Logger, type Shutdown } from '@millrace/platform';
import { apiSettings } from './api.config';
import { openListeners } from './open-listeners';

/** Where the build lays the consoles, seen from the file that the process is started from. */
const CONSOLES = { public: join(__dirname, '..', 'console'), ops: join(__dirname, '..', 'ops-console') };

/** The api process: the public listener, and the ops listener with the admin API. */
async function main(logger: Logger, shutdown: Shutdown): Promise<void> {
  const settings = readSettings(apiSettings, process.env);
  const tracing = await openTracing('api', settings, true);
  shutdown.add('tracing', () => tracing.close());
  const { port, opsPort } = await openListeners(settings, logger, shutdown, CONSOLES);
  shutdown.up(settings.stopSeconds * 1000);
  logger.info({ port, opsPort, surface: settings.surface }, 'serving');
}

runMain('api', main);
