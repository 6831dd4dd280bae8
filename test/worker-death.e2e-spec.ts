import { ApiClient, TestStack, eventually } from '@millrace/testing';

const LEASE_SECONDS = 300;

let stack: TestStack;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start({ settings: { MILLRACE_LEASE_SECONDS: String(LEASE_SECONDS) } });
  client = new ApiClient(stack.publicUrl, (await stack.createAccount()).apiKey);
});
afterAll(() => stack.stop());

it('gives the job of a killed worker its next attempt long before its lease would run out', async () => {
  const { models } = stack.test.database;
  const { id } = await client.run({
    '1': {
      class_type: 'MillraceReactionDiffusion',
      inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
    },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
  });
  await eventually('a worker to have it', async () => {
    return (await models.job.findUniqueOrThrow({ where: { id } })).delivery === 'leased';
  });
  await stack.workers[0]?.end('SIGKILL');
  // As it would be once the worker has missed a heartbeat.
  const leaseExpiresAt = new Date(Date.now() + (LEASE_SECONDS / 2 - 10) * 1_000);
  await models.job.update({ where: { id }, data: { leaseExpiresAt } });
  await stack.addWorker();
  await eventually('its next attempt', async () => {
    const { attempt, delivery } = await models.job.findUniqueOrThrow({ where: { id } });
    return attempt === 2 && delivery === 'leased';
  });
  await client.call('POST', `/api/v2/jobs/${id}/cancel`);
  expect(await client.ended(id)).toMatchObject({ status: 'canceled' });
  const attempts = await models.jobAttempt.findMany({ where: { jobId: id }, orderBy: { attempt: 'asc' } });
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'canceled']);
});
