import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import { GatewayWorld, type GatewayAnswer, type RemoteWorker } from './fixtures/gateway-world';
import { HeldRequest } from './fixtures/held-request';
import { UnreadRequest } from './fixtures/unread-request';

const MIB = 1_048_576;
/** Larger than what kernels take ahead for a client that does not read. */
const LARGE_GRAPH = 9 * MIB;

const codeOf = ({ body }: GatewayAnswer): unknown => (body.error as { code?: unknown } | undefined)?.code;

const held: { leave(): void }[] = [];
afterEach(() => {
  for (const request of held.splice(0)) request.leave();
});

/** Of a few more answers than may be refused, those that came. */
const refusedOf = (answers: (GatewayAnswer | undefined)[]): GatewayAnswer[] =>
  answers.filter((answer): answer is GatewayAnswer => answer?.status === 429);

describe('requests of one token that are under way', () => {
  const SENT = 36;
  /** A fourth of the connections, of which half may wait for something. */
  const [MOST, MOST_WAITING] = [24, 12];
  let world: GatewayWorld;
  beforeAll(async () => {
    world = await GatewayWorld.open({ maxConnections: 4 * MOST });
  });
  afterAll(() => world.close());

  it.each(['offers', 'controls'])(
    'are few that wait for %s: others of the token pass, and of other tokens',
    async (what) => {
      const [worker, other] = [await world.worker(), await world.worker()];
      const leaving = new AbortController();
      held.push({ leave: () => leaving.abort() });
      // Of one mailbox each ends the one before.
      const ids = what === 'offers' ? [worker.id] : await joined(worker, MOST_WAITING + 1);
      const answers: (GatewayAnswer | undefined)[] = [];
      const asked = Array.from({ length: SENT }, async (_, n) => {
        const path = `workers/${ids[n % ids.length]}/${what}`;
        answers[n] = await world.ask('POST', path, { token: worker.token, signal: leaving.signal });
      });
      const refused = await eventually('most to be refused', () => {
        const all = refusedOf(answers);
        return all.length >= SENT - 2 * MOST_WAITING && all;
      });
      expect(refused.map(codeOf)).toEqual(refused.map(() => 'rate_limited'));
      await worker.report('ready');
      await other.report('ready');
      leaving.abort();
      await Promise.allSettled(asked);
      // What has ended counts no more.
      const job = await world.submit(worker.poolId);
      expect((await worker.take()).jobId).toBe(job);
    },
  );

  it('are few altogether, and leave connections to other tokens', async () => {
    const [worker, other] = [await world.worker(), await world.worker()];
    const path = `workers/${worker.id}/reports`;
    const requests = Array.from(
      { length: SENT },
      () => new HeldRequest(world.urlOf(path), { method: 'POST', token: worker.token, declaredBytes: 100 }),
    );
    held.push(...requests);
    await eventually(
      'the others to be refused',
      () => requests.filter(({ isAnswered }) => isAnswered).length === SENT - MOST,
    );
    const refused = requests.filter(({ isAnswered }) => isAnswered);
    for (const { answer } of refused) {
      const { status, headers, body } = await answer;
      expect([status, body.error?.code]).toEqual([429, 'rate_limited']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    await other.report('ready');
    for (const request of requests) request.leave();
    await eventually('those that left to count no more', async () => {
      const report = { state: 'ready', residentModels: [], problem: null };
      return (await worker.ask('POST', path, report)).status === 200;
    });
  });

  /** So many workers of the token of one. */
  async function joined(worker: RemoteWorker, count: number): Promise<string[]> {
    const others = Array.from({ length: count - 1 }, () => world.worker(worker));
    return [worker, ...(await Promise.all(others))].map(({ id }) => id);
  }
});

describe('a graph that its worker does not read', () => {
  let world: GatewayWorld;
  afterEach(async () => {
    for (const request of held.splice(0)) request.leave();
    await world.close();
  });
  const open = (stalledMs?: number): Promise<GatewayWorld> =>
    GatewayWorld.open({ bodyBytesInFlightPerToken: MIB }, 1, stalledMs);

  /** A worker that has claimed a large graph, and reads nothing of it. */
  async function unread(): Promise<{ worker: RemoteWorker; claim: object; request: UnreadRequest }> {
    const worker = await world.worker();
    await world.submit(worker.poolId, { paddingBytes: LARGE_GRAPH });
    const claim = { message: await worker.offer(), warm: [], claimId: randomUUID() };
    const request = new UnreadRequest(world.urlOf(`workers/${worker.id}/claims`), worker.token, claim);
    held.push(request);
    expect(await request.status).toBe(200);
    return { worker, claim, request };
  }

  it('counts for its token until it has left: it gets no other meanwhile, other tokens do', async () => {
    world = await open();
    const { worker, claim, request } = await unread();
    const path = `workers/${worker.id}/claims`;
    const again = await worker.ask('POST', path, claim);
    expect([again.status, codeOf(again)]).toEqual([429, 'rate_limited']);
    await worker.report('ready');
    const other = await world.worker();
    const job = await world.submit(other.poolId);
    expect((await other.take()).jobId).toBe(job);
    request.leave();
    const claimed = await eventually('the claim to be answered', async () => {
      const { status, body } = await worker.ask('POST', path, claim);
      return status === 200 && (body.claimed as { workflow: string } | null);
    });
    expect(claimed.workflow.length).toBeGreaterThan(LARGE_GRAPH);
  });

  it('is cut off when it takes nothing for too long', async () => {
    world = await open(500);
    await unread();
    await eventually('the connection to end', async () => {
      const { values } = await world.metrics.remoteRequests.get();
      return values.some(({ labels, value }) => labels.outcome === 'left' && value > 0);
    });
  });
});
