import { z } from 'zod';
import { integer, setting } from './settings';
import { tracingSettings } from './tracing/tracing.settings';

/** From all lines to the gravest alone. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const DEFAULT_LOG_LEVEL = 'info';

/** What every process reads. */
export const processSettings = {
  ...tracingSettings,
  logLevel: setting(
    'LOG_LEVEL',
    'Least severe log lines that are written.',
    z.enum(LOG_LEVELS).default(DEFAULT_LOG_LEVEL),
  ),
  opsHost: setting(
    'OPS_HOST',
    'Address on which the listener for operators opens. 0.0.0.0 or :: for all networks; keep customers away from it.',
    z.string().default('127.0.0.1'),
  ),
  opsPort: setting(
    'OPS_PORT',
    'Port of the listener for operators: health, metrics, and on the api process the admin API.',
    integer({ min: 0, max: 65_535 }).default(9_090),
  ),
  stopSeconds: setting(
    'STOP_SECONDS',
    'How long a process may take to stop, in seconds, before it exits as it is.',
    integer({ min: 1, max: 86_400 }).default(30),
  ),
};

/**
 * The level for a process that begins, before its settings are read: a level that there is not is reported with the other settings.
 */
export function startingLogLevel({ MILLRACE_LOG_LEVEL: asked }: NodeJS.ProcessEnv): string {
  return LOG_LEVELS.find((level) => level === asked) ?? DEFAULT_LOG_LEVEL;
}
