import { formatDuration } from '../../../src/ui/format';

/** How long the first job in line has waited, for a worker or on its way to one. @param seconds 0: none waits. */
export function waited(seconds: number): string {
  return seconds === 0 ? '–' : formatDuration(seconds * 1_000);
}
