import { LONGEST_RECORDING_MS } from '@millrace/jobs';
import { readSettings } from '@millrace/platform';
import { privacySettings } from './privacy.settings';

/** For connections to become free, and for keys that a process has cached. */
const BESIDE_SECONDS = 60;

it('an erasure goes on for longer than a batch that was under way can take to be recorded', () => {
  const { erasureSettleSeconds } = readSettings(privacySettings, {});
  expect(erasureSettleSeconds).toBeGreaterThan(LONGEST_RECORDING_MS / 1_000 + BESIDE_SECONDS);
});
