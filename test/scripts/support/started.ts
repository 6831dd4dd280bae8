import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';

const START = join(__dirname, '..', '..', '..', 'scripts', 'start.mjs');
/** A cold start of every process on two busy cores. */
export const START_LIMIT_MS = 300_000;

export interface RunFile {
  publicUrl: string;
  opsUrl: string;
  consoleUrl: string;
  apiKey: string;
  adminToken: string;
  databaseUrl: string;
  redisUrl: string;
  blobStore: string;
  processes: { role: string; pid: number }[];
}

/** `npm start`, and what it has printed. */
export interface Started {
  child: ChildProcess;
  output: () => string;
}

/** The command with nothing but embedded parts, as on a machine that has no servers. */
export function start(data: string, ...flags: string[]): Started {
  const embedded = Object.entries(process.env).filter(
    ([name]) => !/^(DATABASE_URL|REDIS_URL|S3_\w+|MILLRACE_\w+)$/.test(name),
  );
  const child = spawn(process.execPath, [START, '--data', data, '--port', '0', ...flags], {
    env: Object.fromEntries(embedded),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  return { child, output: () => output };
}

export async function startReady(data: string, ...flags: string[]): Promise<Started> {
  const started = start(data, ...flags);
  await eventually(
    'the stack is ready',
    () => {
      if (started.child.exitCode !== null) throw new Error(started.output());
      return started.output().includes('Ready. Ctrl-C stops everything.');
    },
    START_LIMIT_MS,
  );
  return started;
}

export function readRunFile(data: string): RunFile {
  return JSON.parse(readFileSync(join(data, 'run.json'), 'utf8')) as RunFile;
}

/** @returns the exit code, once everything that the command said and did is over. */
export async function ended({ child }: Started): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}
