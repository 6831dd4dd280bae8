import { RunLog } from './run-log';

/** Milliseconds that one write takes which prints so many blank lines. */
function writeMs(lines: number): number {
  const log = new RunLog(
    { onText: () => undefined, onDeadThread: () => undefined, onDriverError: () => undefined },
    { tailBytes: 64 * 1024, scrub: (text) => text, beginsAtPost: true },
  );
  log.begin();
  const text = '\n'.repeat(lines);
  const beganAt = performance.now();
  log.write(text);
  const tookMs = performance.now() - beganAt;
  log.close();
  return tookMs;
}

it('blank lines far beyond the tail of a log cost what they have of bytes, not a move of the tail for each', () => {
  writeMs(1_024);
  expect(writeMs(128 * 1024)).toBeLessThan(500);
  expect(writeMs(1024 * 1024)).toBeLessThan(4_000);
});
