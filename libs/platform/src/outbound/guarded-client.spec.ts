import { AddressGuard } from './address-guard';
import { guardedAgent } from './guarded-agent';
import { GuardedClient } from './guarded-client';

jest.mock('./guarded-agent', () => ({ guardedAgent: jest.fn() }));

const answer = { statusCode: 200 };

describe('requests to hosts that somebody else names', () => {
  it('are sent again after what sends them could not be loaded', async () => {
    const agent = { request: () => Promise.resolve(answer), destroy: () => Promise.resolve() };
    const load = jest.mocked(guardedAgent).mockReturnValue(agent as never);
    load.mockImplementationOnce(() => {
      throw new Error('too many open files');
    });
    const client = new GuardedClient(new AddressGuard([]), 1_000);
    await expect(client.request('https://example.com', {})).rejects.toThrow('too many open files');
    expect(await client.request('https://example.com', {})).toBe(answer);
    expect(await client.request('https://example.com', {})).toBe(answer);
    expect(load).toHaveBeenCalledTimes(2);
    await client.close();
  });
});
