import { missing } from './support/needs';
import { Tries } from './support/tries';

const sound = (): Promise<string[]> => Promise.resolve([]);

it.each([
  ['finds something broken', () => Promise.resolve(['the process ended']), 'the process ended'],
  ['throws', () => Promise.reject(new Error('no such process')), 'no such process'],
])('a try that %s fails, and so does each later one', async (_, one, said) => {
  const tries = new Tries();
  await expect(tries.make('an attack', one)).rejects.toThrow(said);
  await expect(tries.make('an attack', sound)).rejects.toThrow(said);
  await tries.make('another attack', sound);
});

it('after a try that does not end, each later one fails', async () => {
  const tries = new Tries();
  void tries.make('an attack', () => new Promise(() => undefined));
  await expect(tries.make('an attack', sound)).rejects.toThrow('a try did not end');
});

it('after a try that breaks nothing, another is made', async () => {
  const tries = new Tries();
  await tries.make('an attack', sound);
  await expect(tries.make('an attack', () => Promise.resolve(['a request failed']))).rejects.toThrow('failed');
});

describe('an attack', () => {
  it('that was answered with no status that it needs, or opened too few connections, is said not to have arrived', () => {
    expect(missing({ connections: 3, 201: 1 }, [[429, 900]], 2)).toEqual([
      '0 answers of 201, of 1 at least',
      '2 connections, of 3 at least',
    ]);
  });

  it('has arrived when its answers and the first ones on its connections are as many as it needs', () => {
    const answers: [number, number][] = [
      [201, 1],
      [200, 4],
      [200, 6],
    ];
    expect(missing({ connections: 10, 200: 10 }, answers, 10)).toEqual([]);
  });
});
