import { createLogger } from '@millrace/platform';
import { StepRunner } from './step-runner';

afterEach(() => jest.useRealTimers());

it('says after each step whether it led, and of one that failed that it did not', async () => {
  jest.useFakeTimers();
  const step = jest.fn<Promise<boolean>, []>().mockResolvedValueOnce(true).mockRejectedValueOnce(new Error('a test'));
  step.mockResolvedValueOnce(true).mockResolvedValue(false);
  const seen: boolean[] = [];
  const loop = new StepRunner({ step }, createLogger('test', 'fatal'), (leads) => void seen.push(leads));
  loop.start();
  for (let nth = 1; nth <= 4; nth += 1) await jest.advanceTimersToNextTimerAsync();
  await loop.stop();
  expect(seen).toEqual([true, false, true, false]);
});
