import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { scratchDir } from '../../../conformance/run-workflow';
import { copyBytes } from './copy-bytes';

const LARGE = 64 * 1024 ** 3;

describe('a copy of a file', () => {
  const folder = scratchDir();
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  const never = new AbortController().signal;

  it('has its bytes, and takes no other file’s place', async () => {
    writeFileSync(from, 'made');
    await copyBytes(from, to, never);
    expect(readFileSync(to, 'utf8')).toBe('made');
    await expect(copyBytes(from, to, never)).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('ends in the middle when it is not wanted any more', async () => {
    writeFileSync(from, '');
    // A hole, which costs the disk nothing.
    truncateSync(from, LARGE);
    const large = join(folder, 'large');
    const abort = new AbortController();
    const copied = copyBytes(from, large, abort.signal);
    const ended = expect(copied).rejects.toMatchObject({ name: 'AbortError' });
    await eventually('it to have begun', () => (statSync(large, { throwIfNoEntry: false })?.size ?? 0) > 0);
    abort.abort();
    await ended;
    expect(statSync(large).size).toBeLessThan(LARGE);
  });
});
