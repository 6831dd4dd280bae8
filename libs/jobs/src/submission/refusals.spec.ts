import type { JobMetadata } from '@millrace/contracts';
import { insufficientCredits, keyOfAnotherBatch, keyOfAnotherRetry, keyReused, missingAssets } from './refusals';

it('a reference to an asset names its id, or says that it has none that is one', () => {
  const at = { node_id: '1', field: 'image' };
  const { message } = missingAssets([
    { ...at, asset_id: null },
    { ...at, asset_id: 'x' },
  ]);
  expect(message).toBe(
    'The workflow refers to assets that do not exist or are not yours: node 1, image: an asset reference whose id is missing or ' +
      'no UUID; node 1, image: asset x.',
  );
});

it('lacking credits say how many there are, and to a sub-key only how many are needed', () => {
  const { message, details } = insufficientCredits(2_000_000n, 1_500_000n, null);
  expect(details).toEqual({ required_micros: 2_000_000, available_micros: 1_500_000 });
  expect(message).toContain('1.5');
  const subKeys: JobMetadata[] = [{}, { user: 'ada' }];
  for (const labels of subKeys) {
    const shown = insufficientCredits(2_000_000n, 1_500_000n, labels);
    expect(shown.details).toEqual({ required_micros: 2_000_000 });
    expect(shown.message).not.toContain('1.5');
  }
});

it.each([
  ['a job', keyReused(), /Look for the first one among your jobs, or use a new key/],
  ['a job of a demo, which lists none', keyReused(true), /by its id, or use a new key/],
  ['a batch', keyOfAnotherBatch(), /among your batches, or use a new key/],
  ['a retry of a batch', keyOfAnotherRetry(), /another retry of this batch.*Use a new key/],
])('a key that was used for %s is refused with what goes on', (_what, { code, message }, cure) => {
  expect(code).toBe('idempotency_key_reuse');
  expect(message).toMatch(cure);
});
