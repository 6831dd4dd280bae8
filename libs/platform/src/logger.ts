import pino, { type Logger, type LoggerOptions } from 'pino';
import { traceIds } from './tracing/tracing';

export type { Logger } from 'pino';

/** Field names whose values are never written. */
const REDACTED = [
  'authorization',
  'cookie',
  'extra_data',
  'extraData',
  'apiKey',
  'api_key',
  'token',
  'password',
  'secret',
];

/**
 * A process's logger: one JSON object a line on standard output. JSON escapes control characters, so no logged text can
 * forge a line or move a terminal's cursor. `process.stdout`, because pino's file destination would retry a broken pipe without
 * end.
 */
export function createLogger(role: string, level: string): Logger {
  const options: LoggerOptions = {
    level,
    base: { role, pid: process.pid },
    mixin: traceIds,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  };
  return pino(options, process.stdout);
}
