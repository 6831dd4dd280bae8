import { setFlagsFromString } from 'node:v8';
import { keepNewObjectsYoung, letHeapGrowSlowly } from './heap';
import { createLogger, type Logger } from './logger';
import { startingLogLevel } from './process.settings';
import { SettingsError } from './settings';
import { Shutdown } from './shutdown';
import { nameSourcesInTraces } from './stack-traces';
import { keepStringMethodsFast } from './string-methods';

/** A boot that failed for a reason that an operator can fix. The message is one sentence. */
export class BootError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BootError';
  }
}

/**
 * Run a process's `main`, which adds to `shutdown` what it opens, and says when it is up. Signals are listened for before it
 * begins: the first process of a container ignores those that it does not listen for, so a boot that hangs would outlive them.
 *
 * A failed boot prints one sentence per fault on standard error and exits with code 1. An unhandled rejection ends the process: its
 * state is then unknown, and the supervisor starts a fresh one.
 */
export function runMain(role: string, main: (logger: Logger, shutdown: Shutdown) => Promise<void>): void {
  nameSourcesInTraces();
  // A heap limit given on the command line or in NODE_OPTIONS would replace the smaller ones of worker threads as well. That of
  // this thread was set when it began, and stays.
  setFlagsFromString('--max-old-space-size=0');
  letHeapGrowSlowly();
  keepNewObjectsYoung();
  keepStringMethodsFast();
  // The reader of the log may end before this process.
  process.stdout.on('error', () => undefined);
  const logger = createLogger(role, startingLogLevel(process.env));
  const die = (error: unknown): void => {
    logger.fatal({ err: error }, 'ended by an uncaught error');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  const shutdown = new Shutdown(logger);
  shutdown.listen();
  main(logger, shutdown).catch((error: unknown) => {
    // What it waits for was closed. The shutdown exits.
    if (shutdown.begun) return;
    if (error instanceof BootError || error instanceof SettingsError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ err: error }, 'the boot failed');
    process.exit(1);
  });
}
