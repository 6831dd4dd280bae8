import { TERMINAL_STATUSES } from '@millrace/contracts';
import { dayOf } from './export-day';
import { USAGE_HEADER, usageRow } from './focus-rows';

it('describes the charge of each end of a job in a sentence of its own', () => {
  const day = dayOf('2026-03-14');
  if (day === null) throw new Error('there is such a day');
  const line = { jobId: 'a', apiKeyId: null, deploymentId: null, billableMs: 1n, chargedMicros: 1n, labels: {} };
  const descriptions = TERMINAL_STATUSES.map((status) => {
    const row = usageRow({ ...line, status, finishedAt: day.from }, { accountId: 'b', day });
    return row[USAGE_HEADER.indexOf('ChargeDescription')];
  });
  expect(descriptions).toEqual([
    'Engine time of a job that succeeded',
    'Engine time of a job that was canceled',
    'Engine time of a job that failed',
    'Engine time of a job that expired',
  ]);
});
