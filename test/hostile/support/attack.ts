import type { Ground } from './ground';
import type { Needs } from './needs';

/** What one account can do at its worst with one thing that all accounts share. */
export interface Attack {
  /** What all share and it goes for. */
  resource: string;
  name: string;
  needs: Needs;
  /** What it goes for is made before its time begins. @returns the id of the job of which that is. */
  prepare(ground: Ground): Promise<string>;
  run(ground: Ground, until: AbortSignal, jobId: string): Promise<unknown>;
}

export const JOB_PATH = '/api/v2/jobs';

const unprepared = (): Promise<string> => Promise.resolve('');

export function attack(
  resource: string,
  name: string,
  needs: Needs,
  run: Attack['run'],
  prepare: Attack['prepare'] = unprepared,
): Attack {
  return { resource, name, needs, prepare, run };
}
