import { StagingMemory } from './staging-memory';

const busy = expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 5 }) as Error;

describe('the memory of uploads under way', () => {
  it('is a third of the whole for one account', () => {
    const memory = new StagingMemory(90);
    const end = memory.take('a', 20);
    memory.take('a', 10);
    expect(() => memory.take('a', 1)).toThrow(busy);
    memory.take('b', 30);
    end();
    end();
    memory.take('a', 20);
    expect(() => memory.take('a', 1)).toThrow(busy);
  });

  it('is limited for all accounts together', () => {
    const memory = new StagingMemory(90);
    for (const account of ['a', 'b', 'c']) memory.take(account, 30);
    expect(() => memory.take('d', 1)).toThrow(busy);
  });

  it('is there for one upload, however large its share would be', () => {
    const memory = new StagingMemory(9);
    const end = memory.take('a', 100);
    expect(() => memory.take('b', 1)).toThrow(busy);
    end();
    memory.take('b', 1);
  });
});
