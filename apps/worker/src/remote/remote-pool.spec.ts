import { newId, type DispatchMessage } from '@millrace/contracts';
import { GatewayUnreachable, type GatewayClient, type GatewayRequest } from './gateway.client';
import { RemotePool } from './remote-pool';

interface Claim {
  claimId: string;
}

/** Requests for a claim of which the first `failures` are not answered. */
function scripted(failures: number): { pool: RemotePool; claims: Claim[] } {
  const claims: Claim[] = [];
  const ask = (_schema: unknown, { body }: GatewayRequest): Promise<unknown> => {
    claims.push(body as Claim);
    if (claims.length <= failures) return Promise.reject(new GatewayUnreachable('no answer'));
    return Promise.resolve({ claimed: null, left: null });
  };
  return { pool: new RemotePool({ ask } as unknown as GatewayClient, newId()), claims };
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

  it('fails where the gateway stays away, so that the worker leaves the lane', async () => {
    const { pool, claims } = scripted(Number.POSITIVE_INFINITY);
    const failed = expect(pool.take(message(), worker)).rejects.toThrow(GatewayUnreachable);
    await jest.runAllTimersAsync();
    await failed;
    expect(claims).toHaveLength(5);
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
    const pool = new RemotePool({ ask } as unknown as GatewayClient, newId());
    const published = pool.publish('', 'cpu', {});
    await jest.advanceTimersByTimeAsync(20_000);
    expect(sent.length).toBeLessThanOrEqual(11);
    await jest.runAllTimersAsync();
    expect(await published).toBe('digest');
  });
});
