import { GatewayWorld } from './fixtures/gateway-world';

const REQUESTS_PER_MINUTE = 40;
const EVENTS = 30;

let world: GatewayWorld;
beforeAll(async () => {
  world = await GatewayWorld.open({ requestsPerMinute: REQUESTS_PER_MINUTE });
});
afterAll(() => world.close());

const progress = { value: 0.5, nodes_done: 0, nodes_total: 1 };
const succeeded = {
  kind: 'finished',
  result: { ending: 'succeeded', failure: null, engineMs: 5, progress: null, nodes: null, log: null },
  last: null,
};

it('events that use up what a token may ask for keep no worker from claims, heartbeats, reports and ends', async () => {
  const worker = await world.worker();
  await world.submit(worker.poolId);
  const attempt = await worker.take();
  const event = (): Promise<number> =>
    worker.of(attempt, 'POST', 'events', { kind: 'progress', progress }).then(({ status }) => status);
  const answered: number[] = [];
  while (answered.at(-1) !== 429 && answered.length <= EVENTS) answered.push(await event());
  expect(answered.at(-1)).toBe(429);
  const refused = await worker.of(attempt, 'POST', 'events', { kind: 'progress', progress });
  expect(refused.body).toMatchObject({ error: { code: 'rate_limited' } });
  expect((await worker.of(attempt, 'GET', 'credentials')).status).toBe(200);
  // So many of the others that they are refused, too.
  const others: number[] = [];
  while (others.at(-1) !== 429 && others.length <= REQUESTS_PER_MINUTE)
    others.push((await worker.ask('GET', 'terms')).status);
  expect(others.at(-1)).toBe(429);
  expect((await worker.of(attempt, 'POST', 'heartbeats', { progress: null, engineMs: 5 })).status).toBe(200);
  await worker.report('ready');
  expect((await worker.of(attempt, 'POST', 'ends', succeeded)).body).toEqual({ recorded: true });
});

it('heartbeats have a limit of their own', async () => {
  const worker = await world.worker();
  const report = { state: 'ready', residentModels: [], problem: null };
  const answered: number[] = [];
  while (answered.at(-1) !== 429 && answered.length <= REQUESTS_PER_MINUTE) {
    answered.push((await worker.ask('POST', `workers/${worker.id}/reports`, report)).status);
  }
  expect(answered.at(-1)).toBe(429);
  expect((await worker.ask('GET', 'terms')).status).toBe(200);
});
