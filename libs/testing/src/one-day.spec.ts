import { onOneDay } from './one-day';

it('a test begins at once while its day lasts for more than a minute', async () => {
  const asked = jest.fn(() => Date.parse('2026-01-31T23:58:59.999Z'));
  await onOneDay(asked);
  expect(asked).toHaveBeenCalledTimes(1);
});

it('a test that would begin in the last minute of a day begins on the next one', async () => {
  const times = ['2026-01-31T23:59:00.000Z', '2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z'];
  await onOneDay(() => Date.parse(times.shift() ?? ''));
  expect(times).toEqual([]);
});
