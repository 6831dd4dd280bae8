import { closeSync, openSync, readSync, statSync } from 'node:fs';

const TAIL_BYTES = 16 * 1024;
const LONGEST = 500;

/**
 * Why a process ended, by what it wrote to its log: the last sentence that is no log line, else the last error that it logged.
 *
 * @param from where its lines begin.
 * @returns null when it wrote nothing of use.
 */
export function lastMessage(logFile: string, from: number): string | null {
  return lastSentence(tailOf(logFile, from));
}

/** The same of what it wrote. @returns null when there is nothing of use in it. */
export function lastSentence(text: string): string | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const sentence = lines.findLast((line) => !line.startsWith('{') && !/^\s|^node:|^Node\.js v/.test(line));
  return (sentence ?? lines.map(errorIn).findLast((error) => error !== null) ?? null)?.slice(0, LONGEST) ?? null;
}

/** The error of a log line of level error and above. */
function errorIn(line: string): string | null {
  try {
    const { level, msg, err } = JSON.parse(line) as {
      level?: number | string;
      msg?: string;
      err?: { message?: string };
    };
    if (Number(level) < 50 || (Number.isNaN(Number(level)) && !['error', 'fatal'].includes(String(level)))) return null;
    return err?.message ?? msg ?? null;
  } catch {
    return null;
  }
}

function tailOf(path: string, from: number): string {
  const file = openSync(path, 'r');
  try {
    const start = Math.max(from, statSync(path).size - TAIL_BYTES);
    const buffer = Buffer.alloc(TAIL_BYTES);
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, TAIL_BYTES, start));
  } finally {
    closeSync(file);
  }
}
