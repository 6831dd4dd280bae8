#!/usr/bin/env node
import { homedir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { SHOW_CURSOR } from './follow';
import { EXIT, type Host } from './process';
import { runCli } from './program';

const INTERRUPTS = ['SIGINT', 'SIGTERM'] as const;

const host: Host = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  homeDir: homedir(),
  onInterrupt(listener) {
    for (const signal of INTERRUPTS) process.on(signal, listener);
    return () => {
      for (const signal of INTERRUPTS) process.off(signal, listener);
    };
  },
  wait: (ms, signal) => delay(ms, undefined, { signal }),
  nowMs: Date.now,
};

// A reader that has gone (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  error.code === 'EPIPE' ? process.exit(EXIT.succeeded) : leaveWithoutResults(error),
);
// Notes that nobody can read, or that a full disk does not take, end nothing: what was begun goes on, such as the cancellation of a job.
process.stderr.on('error', () => undefined);
process.on('exit', () => {
  if (process.stderr.isTTY) process.stderr.write(SHOW_CURSOR);
});

void runCli(process.argv.slice(2), host).then(
  (code) => {
    process.exitCode = code;
    // A wait or a connection that is no longer needed must not keep the process running.
    process.stdout.write('', (error?: NodeJS.ErrnoException | null) =>
      error && error.code !== 'EPIPE' ? leaveWithoutResults(error) : process.exit(),
    );
  },
  (error: unknown) => {
    process.stderr.write(`This is a bug in millrace: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(70);
  },
);

/** What was asked for may be done, and paid for: only its results have no place here. */
function leaveWithoutResults({ message }: Error): never {
  process.stderr.write(`The results cannot be written: ${message}.\n`);
  process.exit(EXIT.notSaved);
}
