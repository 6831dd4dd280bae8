import { waitingOf, type JobStandingRow } from './job-standing';

const row: JobStandingRow = {
  id: 'a job',
  status: 'queued',
  delivery: 'waiting',
  isSetAside: false,
  retryAt: null,
  inFlight: 0,
  runningLimit: 2,
  isStopped: false,
  readyWorkers: 1,
  isStarting: false,
  startingNote: null,
};
const waiting = (facts: Partial<JobStandingRow>, seesDeployment = true): [string, string] | null => {
  const found = waitingOf({ ...row, ...facts }, seesDeployment);
  return found === null ? null : [found.code, found.message];
};

it.each<[string, Partial<JobStandingRow>]>([
  ['has ended', { status: 'succeeded', delivery: 'done' }],
  ['is being canceled', { status: 'canceling' }],
  ['runs', { status: 'running', delivery: 'leased' }],
])('a job that %s waits for nothing', (_, facts) => expect(waiting(facts)).toBeNull());

it('a job waits for the end of a pause, and for a start of its deployment', () => {
  const paused = { status: 'running', delivery: 'paused', retryAt: new Date(0) } as const;
  expect(waiting(paused)).toEqual(['retry_pause', expect.stringContaining('until 1970-01-01T00:00:00.000Z')]);
  expect(waiting({ isStopped: true, readyWorkers: 0, isStarting: true })?.[0]).toBe('deployment_stopped');
});

it('a job waits for workers; why they do not come is for the owner of the deployment', () => {
  expect(waiting({ readyWorkers: 0 })).toEqual(['no_workers', 'No worker is there to run it.']);
  const failed = { readyWorkers: 0, isStarting: true, startingNote: 'engine failed to start: no GPU' };
  expect(waiting(failed)).toEqual(['workers_starting', 'No worker is ready yet: engine failed to start: no GPU.']);
  expect(waiting(failed, false)).toEqual(['workers_starting', 'No worker is ready yet.']);
});

it('a job waits for workers with room, for others of its account, or for its turn', () => {
  const setAside = { delivery: 'dispatched', isSetAside: true, inFlight: 2 } as const;
  expect(waiting(setAside)?.[0]).toBe('workers_without_room');
  expect(waiting({ inFlight: 2 })).toEqual(['running_limit', expect.stringContaining('2 jobs at a time')]);
  expect(waiting({ inFlight: 1, runningLimit: 1 })?.[1]).toContain('1 job at a time');
  expect(waiting({})).toEqual(['workers_busy', expect.stringContaining('waits for its turn')]);
  expect(waiting({ delivery: 'dispatched', inFlight: 2 })).toEqual(['workers_busy', expect.stringContaining('next')]);
});
