import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of one test file, removed with all that is in it at the end. */
export interface TestFolder {
  path: string;
  drop(): Promise<void>;
}

/** Make an empty folder that no other test uses. */
export async function createTestFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'millrace-test-'));
  return { path, drop: () => rm(path, { recursive: true, force: true }) };
}
