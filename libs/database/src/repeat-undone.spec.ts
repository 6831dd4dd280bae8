import pg from 'pg';
import { repeatUndone } from './repeat-undone';

const ofServer = (code: string): pg.DatabaseError => Object.assign(new pg.DatabaseError('no', 2, 'error'), { code });

/** Work that fails with these errors first. */
function failing(...codes: string[]): jest.Mock<Promise<string>> {
  const work = jest.fn(() => Promise.resolve('done'));
  for (const code of codes) work.mockRejectedValueOnce(ofServer(code));
  return work;
}

it.each(['40P01', '40001'])('work that PostgreSQL undid with %s is done again', async (code) => {
  const work = failing(code, code);
  await expect(repeatUndone(work)).resolves.toBe('done');
  expect(work).toHaveBeenCalledTimes(3);
});

it('three times at most', async () => {
  const work = failing('40P01', '40P01', '40P01');
  await expect(repeatUndone(work)).rejects.toMatchObject({ code: '40P01' });
  expect(work).toHaveBeenCalledTimes(3);
});

it.each(['23505', '55P03', '57P01', '40003'])('what failed with %s is not repeated', async (code) => {
  const work = failing(code);
  await expect(repeatUndone(work)).rejects.toMatchObject({ code });
  expect(work).toHaveBeenCalledTimes(1);
});
