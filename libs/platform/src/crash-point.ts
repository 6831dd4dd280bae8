/**
 * Places where a process may die between two writes that belong together. From each of them the rest of the system goes on; `test/faults/crash-points.e2e-spec.ts` dies at every one of them.
 */
export const CRASH_POINTS = [
  'submission:before-commit',
  'submission:after-commit',
  'dispatch:before-lane',
  'claim:before-commit',
  'claim:after-commit',
  'output:after-bytes',
  'output:after-record',
  'finish:before-commit',
  'finish:after-commit',
  'cancel:after-request',
  'rescue:after-take-back',
  'retry:after-commit',
  'archive:after-object',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Exit code of a process that was killed. */
const KILLED = 137;

/** Read once: in production there is no such variable, and a crash point costs one comparison. */
const chosen = process.env.MILLRACE_CRASH_POINT ?? '';

/** Exit here at once, if the process was started with this crash point. */
export function crashPoint(name: CrashPoint): void {
  if (name !== chosen) return;
  process.stderr.write(`crash point ${name}\n`);
  process.exit(KILLED);
}
