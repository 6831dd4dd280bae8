import { createLogger, type Logger } from './logger';
import { SettingsError } from './settings';

/** A boot that cannot go on for a reason an operator can mend. The message is one sentence. */
export class BootError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BootError';
  }
}

/**
 * Run a process's `main`. A failed boot prints one sentence per fault on standard error and exits with code 1; a rejection
 * nobody awaited ends the process, because its state is then unknown and the supervisor's fresh start is not.
 */
export function runMain(role: string, main: (logger: Logger) => Promise<void>): void {
  const logger = createLogger(role, process.env.MILLRACE_LOG_LEVEL || 'info');
  const die = (error: unknown): void => {
    logger.fatal({ err: error }, 'ended by an error that nobody caught');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  main(logger).catch((error: unknown) => {
    if (error instanceof BootError || error instanceof SettingsError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ err: error }, 'the boot failed');
    process.exit(1);
  });
}
