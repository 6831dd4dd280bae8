import { workOnAll } from './work-on-all';

const report = (): { failed: jest.Mock; resting: jest.Mock } => ({ failed: jest.fn(), resting: jest.fn() });
const countOf = (item: string): Promise<number> =>
  item.startsWith('bad') ? Promise.reject(new Error(item)) : Promise.resolve(item.length);

it('counts what all items changed', async () => {
  expect(await workOnAll(['a', 'bc'], countOf)).toBe(3);
  expect(await workOnAll([], countOf)).toBe(0);
});

it('goes on with the others where one fails, and reports it', async () => {
  const said = report();
  expect(await workOnAll(['bad', 'a', 'bc'], countOf, said)).toBe(3);
  expect(said.failed.mock.calls).toEqual([['bad', new Error('bad')]]);
  expect(said.resting.mock.calls).toEqual([[1]]);
  await workOnAll(['a'], countOf, said);
  expect(said.resting).toHaveBeenLastCalledWith(0);
});

it('fails where all fail', async () => {
  const said = report();
  await expect(workOnAll(['bad 1', 'bad 2'], countOf, said)).rejects.toThrow('bad 1');
  expect(said.failed).toHaveBeenCalledTimes(2);
});

it('ends when the slowest has, also where another failed before', async () => {
  let end: (count: number) => void = () => undefined;
  const slow = new Promise<number>((resolve) => (end = resolve));
  const ended = jest.fn();
  const all = workOnAll(['bad', 'slow'], (item) => (item === 'slow' ? slow : countOf(item))).then(ended);
  await Promise.resolve();
  expect(ended).not.toHaveBeenCalled();
  end(7);
  await all;
  expect(ended).toHaveBeenCalledWith(7);
});
