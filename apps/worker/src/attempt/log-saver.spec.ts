import type { ClaimedAttempt } from '@millrace/jobs';
import { createLogger } from '@millrace/platform';
import { LogSaver } from './log-saver';

it('what could not be saved is saved the next time, with what was printed since', async () => {
  let [printed, isAway] = ['one', true];
  const saved: string[] = [];
  const keepLog = (_fence: unknown, { text }: { text: string }): Promise<void> => {
    if (isAway) return Promise.reject(new Error('away'));
    saved.push(text);
    return Promise.resolve();
  };
  const observer = {
    get logLength(): number {
      return printed.length;
    },
    readLog: () => ({ text: printed, truncated: false }),
  };
  const claimed = { keepsLogs: true } as ClaimedAttempt;
  const saver = new LogSaver({ keepLog }, claimed, observer, createLogger('test', 'fatal'));
  await saver.save();
  [printed, isAway] = ['one, two', false];
  await saver.save();
  await saver.save();
  saver.close();
  expect(saved).toEqual(['one, two']);
});
