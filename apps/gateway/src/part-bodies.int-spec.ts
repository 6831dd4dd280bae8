import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { GATEWAY_HEADERS, type GatewayAttempt } from '@millrace/contracts';
import { eventually, testS3 } from '@millrace/testing';
import { GatewayWorld, type RemoteWorker } from './fixtures/gateway-world';
import { HeldRequest } from './fixtures/held-request';

const PART_BYTES = 5 * 1_048_576;
const limits = { bodyBytesInFlight: 4 * PART_BYTES, bodyBytesInFlightPerToken: PART_BYTES };

const held: HeldRequest[] = [];
afterEach(() => {
  for (const request of held.splice(0)) request.leave();
});

/** A worker with an attempt, and the name of an upload of it. */
async function uploading(
  world: GatewayWorld,
): Promise<{ worker: RemoteWorker; attempt: GatewayAttempt; upload: string }> {
  const worker = await world.worker();
  await world.submit(worker.poolId);
  const attempt = await worker.take();
  const part = { upload: null, number: 1, sizeBytes: PART_BYTES };
  const { body } = await worker.of(attempt, 'POST', 'uploads', part);
  return { worker, attempt, upload: String(body.upload) };
}

/** Begin to send two parts by the gateway. */
function two({ worker, attempt, upload }: Awaited<ReturnType<typeof uploading>>): [HeldRequest, HeldRequest] {
  const headers = { [GATEWAY_HEADERS.lease]: attempt.leaseToken, [GATEWAY_HEADERS.upload]: upload };
  const begin = (number: number): HeldRequest => {
    const url = worker.world.urlOf(`jobs/${attempt.jobId}/attempts/${attempt.attempt}/uploads/parts/${number}`);
    return new HeldRequest(url, { token: worker.token, declaredBytes: PART_BYTES, headers });
  };
  held.push(begin(1), begin(2));
  return held.slice(-2) as [HeldRequest, HeldRequest];
}

describe('parts of an output that come by the gateway', () => {
  let world: GatewayWorld;
  afterEach(() => world.close());

  it('count for their token where the store holds them in memory', async () => {
    const { endpoint, region, ...credentials } = testS3();
    const bucket = `millrace-${randomUUID()}`;
    const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    world = await GatewayWorld.open({
      ...limits,
      ...{ blobDir: undefined, s3Bucket: bucket, s3Endpoint: endpoint, s3Region: region },
      ...{ s3AccessKeyId: credentials.accessKeyId, s3SecretAccessKey: credentials.secretAccessKey },
    });
    const parts = two(await uploading(world));
    const first = await eventually('one to be refused', () => parts.find(({ isAnswered }) => isAnswered));
    const refused = await first.answer;
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const counts = parts.find((part) => part !== first);
    counts?.send(Buffer.alloc(PART_BYTES));
    expect(await counts?.answer).toMatchObject({ status: 200 });
  });

  it('do not where it writes them as they come', async () => {
    world = await GatewayWorld.open(limits);
    const parts = two(await uploading(world));
    for (const part of parts) part.send(Buffer.alloc(PART_BYTES));
    for (const { answer } of parts) expect((await answer).status).toBe(200);
  });
});
