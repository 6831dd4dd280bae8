import { SharedReading } from './coalesced-reads';

describe('a shared reading', () => {
  it('is made once for all who ask while another is under way, and begins after they asked', async () => {
    const shared = new SharedReading<number>();
    let truth = 0;
    let readings = 0;
    const gates: (() => void)[] = [];
    const read = async (): Promise<number> => {
      readings += 1;
      const seen = truth;
      await new Promise<void>((open) => gates.push(open));
      return seen;
    };
    const first = shared.ask('job', read);
    truth = 1;
    const later = Array.from({ length: 1_000 }, () => shared.ask('job', read));
    gates.shift()?.();
    expect(await first).toBe(0);
    gates.shift()?.();
    expect(new Set(await Promise.all(later))).toEqual(new Set([1]));
    expect(readings).toBe(2);
  });

  it('that fails is made again for whoever asks next', async () => {
    const shared = new SharedReading<string>();
    await expect(shared.ask('job', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    const failing = shared.ask('job', () => Promise.reject(new Error('away again')));
    const next = shared.ask('job', () => Promise.resolve('read'));
    await expect(failing).rejects.toThrow('away again');
    expect(await next).toBe('read');
  });

  it('is of one key', async () => {
    const shared = new SharedReading<string>();
    const both = [shared.ask('a', () => Promise.resolve('a')), shared.ask('b', () => Promise.resolve('b'))];
    expect(await Promise.all(both)).toEqual(['a', 'b']);
  });
});
