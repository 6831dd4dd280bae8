import type { JobHistory } from '@millrace/jobs';
import { engineMsOf } from './job-history.presenter';

const attempt = (engineMs: number | null) => ({ engineMs }) as JobHistory['attempts'][number];

describe('the engine time of a job, as operators see it', () => {
  it('is that of all attempts, after the end, too', () => {
    expect(engineMsOf({ attempts: [attempt(1_500), attempt(2_700)], delivery: 'done', engineMs: 0 })).toBe(4_200);
  });

  it('has the time of the running attempt from its last heartbeat', () => {
    expect(engineMsOf({ attempts: [attempt(1_500), attempt(null)], delivery: 'leased', engineMs: 900 })).toBe(2_400);
  });
});
