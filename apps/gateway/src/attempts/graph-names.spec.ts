import { eventually } from '@millrace/testing';
import { GraphNames } from './graph-names';

const body = { graphInTurn: <T>(work: () => Promise<T>): Promise<T> => work() };
const graphOf = (...names: string[]): { accountId: string; workflow: string } => ({
  accountId: 'an-account',
  workflow: JSON.stringify({ '1': { class_type: 'Load', inputs: { names } } }),
});

describe('the names of models in graphs', () => {
  it('are kept of a graph, and of its key alone', async () => {
    const names = new GraphNames();
    const load = jest.fn(() => Promise.resolve(graphOf('a.safetensors')));
    const expected = { accountId: 'an-account', names: new Set(['a.safetensors']) };
    for (const key of ['one', 'one', 'other']) expect(await names.of(body, key, load)).toEqual(expected);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('are none where there is no graph', async () => {
    const names = new GraphNames();
    const none = await names.of(body, 'one', () => Promise.resolve(null));
    expect(none).toEqual({ accountId: null, names: new Set() });
    const load = (): Promise<ReturnType<typeof graphOf>> => Promise.resolve(graphOf('a.safetensors'));
    expect(await names.of(body, 'one', load)).toEqual(none);
    expect((await names.of(body, 'one', load, { isFresh: true })).names).toEqual(new Set(['a.safetensors']));
  });

  it('are read again where they are to be fresh, and kept then', async () => {
    const names = new GraphNames();
    await names.of(body, 'one', () => Promise.resolve(graphOf('a.safetensors')));
    const load = (): Promise<ReturnType<typeof graphOf>> => Promise.resolve(graphOf('b.safetensors'));
    for (const options of [{ isFresh: true }, {}]) {
      expect((await names.of(body, 'one', load, options)).names).toEqual(new Set(['b.safetensors']));
    }
  });

  it('are read again after their time', async () => {
    const names = new GraphNames();
    await names.of(body, 'one', () => Promise.resolve(graphOf('a.safetensors')), { keptMs: 1 });
    await eventually('the change to show', async () => {
      const found = await names.of(body, 'one', () => Promise.resolve(graphOf('b.safetensors')), { keptMs: 1 });
      return found.names.has('b.safetensors');
    });
  });

  it('are not kept of a graph that names very many', async () => {
    const names = new GraphNames();
    const many = Array.from({ length: 2_000 }, (_, n) => `${'x'.repeat(200)}${n}.safetensors`);
    const load = jest.fn(() => Promise.resolve(graphOf(...many)));
    for (let asked = 0; asked < 2; asked += 1) expect((await names.of(body, 'one', load)).names.size).toBe(2_000);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('are read by the first of several requests that wait for their turn', async () => {
    const names = new GraphNames();
    let turn = Promise.resolve<unknown>(undefined);
    const graphInTurn = <T>(work: () => Promise<T>): Promise<T> => {
      const taken = turn.then(work);
      turn = taken;
      return taken;
    };
    const load = jest.fn(() => Promise.resolve(graphOf('a.safetensors')));
    await Promise.all(Array.from({ length: 5 }, () => names.of({ graphInTurn }, 'one', load)));
    expect(load).toHaveBeenCalledTimes(1);
  });
});
