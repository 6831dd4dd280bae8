import { Refusal, newId, type DispatchMessage, type GatewayAttempt } from '@millrace/contracts';
import type { WorkerReport } from '@millrace/deployments';
import { createLogger } from '@millrace/platform';
import { followersOf } from '@millrace/testing';
import { GatewayUnreachable, type GatewayClient, type GatewayRequest } from './gateway.client';
import { EventPause } from './event-pause';
import { StoreLinks } from './store-links';
import { RemoteGraphs } from './remote-graph';
import { RemotePool } from './remote-pool';

interface Claim {
  claimId: string;
}

const LEASE_SECONDS = 10;
const logger = createLogger('test', 'silent');

/** The pool of a worker whose requests are answered so. */
function poolOf(ask: (schema: unknown, request: GatewayRequest) => Promise<unknown>): RemotePool {
  const client = { ask } as unknown as GatewayClient;
  return new RemotePool(
    client,
    newId(),
    new RemoteGraphs(
      { client, partBytes: 1, eventPause: new EventPause(), links: new StoreLinks(logger), logger },
      LEASE_SECONDS,
      logger,
    ),
  );
}

/** Requests for a claim of which the first `failures` are not answered. */
function scripted(failures: number): { pool: RemotePool; claims: Claim[] } {
  const claims: Claim[] = [];
  const ask = (_schema: unknown, { body }: GatewayRequest): Promise<unknown> => {
    claims.push(body as Claim);
    if (claims.length <= failures) return Promise.reject(new GatewayUnreachable('no answer'));
    return Promise.resolve({ claimed: null, left: null });
  };
  return { pool: poolOf(ask), claims };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const message = (): DispatchMessage => ({ jobId: newId(), attempt: 1 });
const worker = { id: newId(), poolId: 'pool', warm: [] };

describe('a claim of a remote worker', () => {
  it('has an id of its own', async () => {
    const { pool, claims } = scripted(0);
    await pool.take(message(), worker);
    await pool.take(message(), worker);
    expect(claims).toHaveLength(2);
    expect(claims[0]?.claimId).not.toBe(claims[1]?.claimId);
  });

  it('is asked for again by its id where it was not answered', async () => {
    const { pool, claims } = scripted(2);
    const taking = pool.take(message(), worker);
    await jest.runAllTimersAsync();
    expect(await taking).toEqual({ claimed: null, left: null });
    expect(claims).toHaveLength(3);
    expect(new Set(claims.map(({ claimId }) => claimId)).size).toBe(1);
  });

  it('is asked for once more by a worker that must go, since the answer that was lost may have said that it is taken', async () => {
    const gone = new AbortController();
    const offered = message();
    const taken = { ...offered, scope: 'a scope', workflow: '{}', deadlineAt: new Date().toISOString() };
    const claims: Claim[] = [];
    const pool = poolOf((_schema, { body }) => {
      claims.push(body as Claim);
      if (claims.length > 1) return Promise.resolve({ claimed: taken, left: null });
      gone.abort();
      return Promise.reject(new GatewayUnreachable('the answer broke off'));
    });
    expect((await pool.take(offered, { ...worker, gone: gone.signal })).claimed).toMatchObject(offered);
    expect(claims).toHaveLength(2);
    expect(claims[1]).toEqual(claims[0]);
  });

  it('leaves its message to others at once where its worker must go before the gateway takes it', async () => {
    const gone = new AbortController();
    const pool = poolOf(() => Promise.reject(new GatewayUnreachable('busy', { retryAfterMs: 60_000 })));
    const offered = message();
    const taking = pool.take(offered, { ...worker, gone: gone.signal });
    await jest.advanceTimersByTimeAsync(1_000);
    gone.abort();
    expect(await taking).toEqual({ claimed: null, left: offered });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fails where the gateway stays away, so that the worker leaves the lane', async () => {
    const { pool, claims } = scripted(Number.POSITIVE_INFINITY);
    const failed = expect(pool.take(message(), worker)).rejects.toThrow(GatewayUnreachable);
    await jest.runAllTimersAsync();
    await failed;
    expect(claims).toHaveLength(5);
  });
});

describe('a claim of a large graph', () => {
  const { workflow, ...attempt }: GatewayAttempt & { leaseSeconds?: number } = {
    ...{ jobId: newId(), attempt: 1, leaseToken: newId(), poolId: 'pool', scope: 'a scope', status: 'running' },
    ...{ workflow: '{"1":{}}', deadlineAt: new Date().toISOString(), hasSecrets: false, models: [] },
    ...{ progress: null, traceparent: null, keepsLogs: false, isHoldShort: false },
  };

  const running = { status: 'running', exhausted: false, overtime: false };

  /** A gateway with that attempt. @param graph answers a request for it. */
  function gateway(
    graph: (signal: AbortSignal | undefined) => Promise<unknown>,
    heartbeat: object | null = running,
    claimed = attempt,
  ): { pool: RemotePool; asked: GatewayRequest[]; ends: () => unknown[] } {
    const asked: GatewayRequest[] = [];
    const ask = (_schema: unknown, request: GatewayRequest): Promise<unknown> => {
      asked.push(request);
      if (request.path === 'graph') return graph(request.signal);
      if (request.path === 'ends') return Promise.resolve({ recorded: true });
      return Promise.resolve(request.path === 'heartbeats' ? { answer: heartbeat } : { claimed, left: null });
    };
    const ends = (): unknown[] => asked.filter(({ path }) => path === 'ends').map(({ body }) => body);
    return { pool: poolOf(ask), asked, ends };
  }

  /** Is not answered until it is ended. */
  const never = (signal: AbortSignal | undefined): Promise<never> =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new GatewayUnreachable('ended')));
    });
  const refused = (retryAfterMs: number) => (): Promise<never> =>
    Promise.reject(new GatewayUnreachable('the gateway answered with status 429', { retryAfterMs }));

  it('has its lease renewed while the graph is read, however long that takes', async () => {
    const slow = (): Promise<unknown> => new Promise((resolve) => setTimeout(() => resolve({ workflow }), 35_000));
    const { pool, asked } = gateway(slow);
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(35_000);
    expect((await taking).claimed).toMatchObject({ jobId: attempt.jobId, workflow, accountId: 'a scope' });
    const beats = asked.filter(({ path }) => path === 'heartbeats');
    expect(beats.length).toBeGreaterThanOrEqual(10);
    expect(beats[0]).toMatchObject({ fence: attempt, body: { progress: null, engineMs: 0 } });
    expect(asked[0]?.body).toMatchObject({ graphApart: true });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keeps its lease where a gateway that is gone never answers a heartbeat', async () => {
    let beats = 0;
    const pool = poolOf((_schema, { path, signal }) => {
      if (path === 'graph') return new Promise((resolve) => setTimeout(() => resolve({ workflow }), 25_000));
      if (path !== 'heartbeats') return Promise.resolve({ claimed: attempt, left: null });
      if ((beats += 1) !== 2)
        return Promise.resolve({ answer: { status: 'running', exhausted: false, overtime: false } });
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new GatewayUnreachable('ended')));
      });
    });
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(25_000);
    expect((await taking).claimed).toMatchObject({ workflow });
    expect(beats).toBe(7);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('has its lease renewed as often as the answer to its claim demands', async () => {
    const slow = (): Promise<unknown> => new Promise((resolve) => setTimeout(() => resolve({ workflow }), 5_500));
    const { pool, asked } = gateway(slow, running, { ...attempt, leaseSeconds: 3 });
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(5_500);
    expect((await taking).claimed).toMatchObject({ leaseSeconds: 3 });
    expect(asked.filter(({ path }) => path === 'heartbeats')).toHaveLength(5);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is read again where the link broke', async () => {
    let tries = 0;
    const { pool } = gateway(() =>
      (tries += 1) < 10 ? Promise.reject(new GatewayUnreachable('a test')) : Promise.resolve({ workflow }),
    );
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(60_000);
    expect((await taking).claimed).toMatchObject({ workflow });
  });

  it('has its lease renewed before it is run where a heartbeat hangs when the graph is there', async () => {
    const beats: number[] = [];
    const pool = poolOf((_schema, { path, signal }) => {
      if (path === 'graph') return new Promise((resolve) => setTimeout(() => resolve({ workflow }), 5_000));
      if (path !== 'heartbeats') return Promise.resolve({ claimed: attempt, left: null });
      beats.push(performance.now() - startedAtMs);
      return beats.length === 1 ? never(signal) : Promise.resolve({ answer: running });
    });
    const startedAtMs = performance.now();
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(5_000);
    expect((await taking).claimed).toMatchObject({ workflow });
    expect(beats).toEqual([expect.closeTo(3_333, -1), 5_000]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is run with the lease that the last heartbeat named', async () => {
    const slow = (): Promise<unknown> => new Promise((resolve) => setTimeout(() => resolve({ workflow }), 5_000));
    const { pool } = gateway(slow, { ...running, leaseSeconds: 6 });
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(5_000);
    expect((await taking).claimed).toMatchObject({ leaseSeconds: 6 });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends with its lease', async () => {
    const { pool, ends } = gateway(never, null);
    const ended = expect(pool.take(message(), worker)).rejects.toMatchObject({ name: 'AbortError' });
    await jest.advanceTimersByTimeAsync(20_000);
    await ended;
    expect(ends()).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    ['is to be canceled', { ...running, status: 'canceling' }, 'canceled_while_running'],
    ['has used up its credits', { ...running, exhausted: true }, 'credits_exhausted'],
    ['has reached its time limit', { ...running, overtime: true }, 'overtime'],
  ])('ends with its job where that %s meanwhile', async (_, heartbeat, ending) => {
    const { pool, ends } = gateway(never, heartbeat);
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await taking).toEqual({ claimed: null, left: null });
    expect(ends()).toEqual([
      { kind: 'finished', result: expect.objectContaining({ ending, engineMs: 0 }) as object, last: null },
    ]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    ['given back', 10, { kind: 'handed_back' }],
    ['given up', 11, { kind: 'given_up', loss: { by: 'worker', reason: 'its graph could not be read' } }],
  ])('is %s where the gateway refuses it to the last try: attempt %i', async (_, nth, end) => {
    const { pool, asked, ends } = gateway(refused(0), running, { ...attempt, attempt: nth });
    const taking = pool.take(message(), worker);
    await jest.advanceTimersByTimeAsync(200_000);
    expect(await taking).toEqual({ claimed: null, left: null });
    expect(asked.filter(({ path }) => path === 'graph')).toHaveLength(40);
    expect(ends()).toEqual([end]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    ['is under way', never],
    ['is to wait for a minute', refused(60_000)],
  ])('is given back at once by a worker that must go, while the request %s', async (_, graph) => {
    const gone = new AbortController();
    const { pool, ends } = gateway(graph);
    const taking = pool.take(message(), { ...worker, gone: gone.signal });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ends()).toEqual([]);
    gone.abort();
    await jest.advanceTimersByTimeAsync(0);
    expect(await taking).toEqual({ claimed: null, left: null });
    expect(ends()).toEqual([{ kind: 'handed_back' }]);
    expect(followersOf(gone.signal)).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is asked for again by its id, with the graph, where a gateway of an earlier version has no graphs apart', async () => {
    const claims: unknown[] = [];
    const pool = poolOf((_schema, { path, body }) => {
      if (path === 'graph') return Promise.reject(new Refusal('not_found', 'There is no such address.'));
      if (path === 'heartbeats') return Promise.resolve({ answer: null });
      claims.push(body);
      const graphApart = (body as { graphApart: boolean }).graphApart;
      return Promise.resolve({ claimed: graphApart ? attempt : { ...attempt, workflow }, left: null });
    });
    expect((await pool.take(message(), worker)).claimed).toMatchObject({ jobId: attempt.jobId, workflow });
    expect(claims).toHaveLength(2);
    expect(claims[1]).toEqual({ ...(claims[0] as object), graphApart: false });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is the one that this answers, where its lease was over by then', async () => {
    const other = { ...attempt, jobId: newId(), workflow: '{"2":{}}' };
    const pool = poolOf((_schema, { path, body }) => {
      if (path === 'graph') return Promise.reject(new Refusal('not_found', 'There is no such address.'));
      if (path === 'heartbeats') return Promise.resolve({ answer: null });
      return Promise.resolve({ claimed: (body as { graphApart: boolean }).graphApart ? attempt : other, left: null });
    });
    expect((await pool.take(message(), worker)).claimed).toMatchObject({ jobId: other.jobId, workflow: '{"2":{}}' });
  });

  it('needs no other request where the gateway is of an earlier version', async () => {
    const asked: string[] = [];
    const pool = poolOf((_schema, { path }) => {
      asked.push(path);
      return Promise.resolve({ claimed: { ...attempt, workflow }, left: null });
    });
    expect((await pool.take(message(), worker)).claimed).toMatchObject({ workflow });
    expect(asked).toHaveLength(1);
  });
});

describe('a heartbeat of a remote worker', () => {
  const report: WorkerReport = { state: 'ready', residentModels: [], problem: null };

  it('says that the gateway does not know the worker, and fails for every other refusal', async () => {
    const details = { not_joined: true };
    const unknown = poolOf(() => Promise.reject(new Refusal('forbidden', 'It did not join.', { details })));
    expect(await unknown.heartbeat(newId(), report)).toBeNull();
    const full = poolOf(() => Promise.reject(new Refusal('forbidden', 'This token has 16 workers.')));
    await expect(full.heartbeat(newId(), report)).rejects.toThrow('16 workers');
  });
});

describe('a catalogue of a remote worker', () => {
  it('that the gateway refuses for now is sent again when it says', async () => {
    const sent: (object | undefined)[] = [];
    const ask = (_schema: unknown, { body }: GatewayRequest): Promise<unknown> => {
      sent.push(body);
      const busy = new GatewayUnreachable('the gateway answered with status 429', { retryAfterMs: 2_000 });
      return sent.length <= 20 ? Promise.reject(busy) : Promise.resolve({ digest: 'digest' });
    };
    const pool = poolOf(ask);
    const published = pool.publish('', 'cpu', {});
    await jest.advanceTimersByTimeAsync(20_000);
    expect(sent.length).toBeLessThanOrEqual(11);
    await jest.runAllTimersAsync();
    expect(await published).toBe('digest');
  });
});
