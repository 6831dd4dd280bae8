import { newId, type DispatchMessage } from '@millrace/contracts';
import { createLogger } from '@millrace/platform';
import { eventually } from '@millrace/testing';
import { GatewayUnreachable, type GatewayClient, type GatewayRequest } from './gateway.client';
import { RemoteLane } from './remote-lane';

const logger = createLogger('test', 'silent');

/** A gateway whose lane a test fills. */
class ScriptedGateway {
  readonly lane: DispatchMessage[] = [];
  readonly left: DispatchMessage[] = [];
  readonly cancels: string[] = [];
  /** Requests for a message that are to fail. */
  failures = 0;
  waiting = 0;
  private readonly closing = new AbortController();

  readonly client = {
    ask: (_schema: unknown, request: GatewayRequest) => this.answer(request),
  } as unknown as GatewayClient;

  private async answer({ path, body, signal }: GatewayRequest): Promise<unknown> {
    if (path.endsWith('offers/left')) {
      this.left.push((body as { message: DispatchMessage }).message);
      return {};
    }
    if (path.endsWith('controls')) return { cancel: (await this.next(this.cancels, signal)) ?? [] };
    if (this.failures > 0) {
      this.failures -= 1;
      throw new GatewayUnreachable('no answer');
    }
    this.waiting += 1;
    try {
      return { message: (await this.next(this.lane, signal))?.[0] ?? null };
    } finally {
      this.waiting -= 1;
    }
  }

  /** The next of a list, once there is one. */
  private async next<T>(list: T[], signal?: AbortSignal): Promise<T[] | null> {
    const over = AbortSignal.any([this.closing.signal, ...(signal ? [signal] : [])]);
    await eventually('something to answer', () => list.length > 0 || over.aborted);
    if (over.aborted) throw new GatewayUnreachable('cut off');
    return list.splice(0, 1);
  }

  close(): void {
    this.closing.abort();
  }
}

let gateway: ScriptedGateway;
let taken: DispatchMessage[];
let canceled: string[];
let take: (message: DispatchMessage) => Promise<DispatchMessage | null>;
let lane: RemoteLane;
beforeEach(() => {
  gateway = new ScriptedGateway();
  [taken, canceled] = [[], []];
  take = () => Promise.resolve(null);
  lane = new RemoteLane({
    client: gateway.client,
    workerId: newId(),
    take: (message) => {
      taken.push(message);
      return take(message);
    },
    cancel: (jobId) => void canceled.push(jobId),
    logger,
  });
});
afterEach(async () => {
  gateway.close();
  await lane.close();
});

const message = (): DispatchMessage => ({ jobId: newId(), attempt: 1 });

describe('the lane of a worker outside the cluster', () => {
  it('asks for as many messages at a time as the worker can run attempts', async () => {
    lane.setCapacity(2);
    await eventually('two requests', () => gateway.waiting === 2);
    lane.setCapacity(3);
    await eventually('a third', () => gateway.waiting === 3);
    gateway.lane.push(message(), message(), message(), message());
    await eventually('each to be taken', () => taken.length === 4);
  });

  it('asks for the next only when an attempt is over', async () => {
    let end: () => void = () => undefined;
    take = () => new Promise((resolve) => (end = () => resolve(null)));
    lane.setCapacity(1);
    gateway.lane.push(message(), message());
    await eventually('the first to be taken', () => taken.length === 1);
    expect(gateway.waiting).toBe(0);
    end();
    await eventually('the second to be taken', () => taken.length === 2);
    end();
  });

  it('gives back what the worker leaves', async () => {
    take = (given) => Promise.resolve(given);
    const given = message();
    gateway.lane.push(given);
    lane.setCapacity(1);
    await eventually('it to be left', () => gateway.left.length === 1);
    expect(gateway.left).toEqual([given]);
  });

  it('goes on after requests that were not answered', async () => {
    gateway.failures = 2;
    gateway.lane.push(message());
    lane.setCapacity(1);
    await eventually('it to be taken', () => taken.length === 1);
  });

  it('takes nothing with a capacity of 0, and asks again after', async () => {
    lane.setCapacity(1);
    await eventually('a request', () => gateway.waiting === 1);
    lane.setCapacity(0);
    await eventually('no request', () => gateway.waiting === 0);
    gateway.lane.push(message());
    lane.setCapacity(1);
    await eventually('it to be taken', () => taken.length === 1);
  });

  it('says which jobs are to be canceled', async () => {
    const jobId = newId();
    gateway.cancels.push(jobId);
    await eventually('it to be said', () => canceled.includes(jobId));
  });

  it('is drained when what was taken is over', async () => {
    let end: () => void = () => undefined;
    take = () => new Promise((resolve) => (end = () => resolve(null)));
    gateway.lane.push(message());
    lane.setCapacity(1);
    await eventually('it to be taken', () => taken.length === 1);
    let drained = false;
    const over = lane.drain().then(() => (drained = true));
    expect(drained).toBe(false);
    end();
    await over;
    expect(gateway.waiting).toBe(0);
  });
});
