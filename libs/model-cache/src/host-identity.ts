import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Where process ids of this process mean something: two containers of one host may both have a process 1. Outside of Linux
 * there is one such place for a host.
 */
export const PROCESS_NAMESPACE = `${hostname()} ${pidNamespace()}`;

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Whether a process of this number lives in this namespace; another user's does. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
