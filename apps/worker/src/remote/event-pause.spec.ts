import type { ClaimedAttempt } from '@millrace/jobs';
import { EventPause } from './event-pause';
import { GatewayUnreachable, type GatewayClient, type GatewayRequest } from './gateway.client';
import { RemoteAttempt } from './remote-attempt';
import { StoreLinks } from './store-links';

let nowMs: number;
let asked: GatewayRequest[];
/** What an event is answered. */
let answer: () => Promise<unknown>;
let progress: (attempt: 0 | 1) => Promise<void>;
beforeEach(() => {
  nowMs = 0;
  asked = [];
  answer = () => Promise.resolve({});
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const ask = (_schema: unknown, request: GatewayRequest): Promise<unknown> => {
    asked.push(request);
    return request.path === 'events' ? answer() : Promise.resolve({ answer: null });
  };
  const client = { ask } as unknown as GatewayClient;
  const logger = { debug: () => undefined, warn: () => undefined };
  const access = { client, partBytes: 1, eventPause: new EventPause(), links: new StoreLinks(logger), logger };
  const claimed = { jobId: 'job', attempt: 1, leaseToken: 'lease' } as ClaimedAttempt;
  const attempts = [new RemoteAttempt(access, claimed), new RemoteAttempt(access, claimed)] as const;
  progress = async (attempt) => {
    attempts[attempt].parts.jobs.events.progressed('job', 1, { value: 0, nodes_done: 0, nodes_total: 1 });
    await new Promise((resolve) => setImmediate(resolve));
  };
});
afterEach(() => jest.restoreAllMocks());

it('events of all attempts pause for as long as the gateway says that it takes none', async () => {
  answer = () => Promise.reject(new GatewayUnreachable('status 429', { retryAfterMs: 7_000 }));
  await progress(0);
  answer = () => Promise.resolve({});
  nowMs = 6_999;
  await progress(0);
  await progress(1);
  expect(asked).toHaveLength(1);
  nowMs = 7_000;
  await progress(0);
  await progress(1);
  expect(asked).toHaveLength(3);
});

it('an event that is lost otherwise is followed by the next', async () => {
  answer = () => Promise.reject(new GatewayUnreachable('no answer'));
  await progress(0);
  await progress(0);
  expect(asked).toHaveLength(2);
});
