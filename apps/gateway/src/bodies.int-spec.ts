import { randomUUID } from 'node:crypto';
import { GATEWAY_HEADERS, newId, type GatewayAttempt, type NodeCatalogue } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import { GatewayWorld, type RemoteWorker } from './fixtures/gateway-world';
import { HeldRequest } from './fixtures/held-request';

const MIB = 1_048_576;
/** The limit of a catalogue. */
const LARGEST = 16 * MIB;

let world: GatewayWorld;
beforeAll(async () => {
  world = await GatewayWorld.open({ bodyBytesInFlight: 5 * MIB, bodyBytesInFlightPerToken: 2 * MIB });
});
afterAll(() => world.close());

const held: HeldRequest[] = [];
afterEach(() => {
  for (const request of held.splice(0)) request.leave();
});

/** Begin to send a body, and hold it back. */
function begin(
  token: string,
  path: string,
  declaredBytes: number,
  options: { method?: 'PUT' | 'POST'; headers?: Record<string, string> } = {},
): HeldRequest {
  const request = new HeldRequest(world.urlOf(path), { token, declaredBytes, ...options });
  held.push(request);
  return request;
}

const catalogueOf = (worker: RemoteWorker): string => `workers/${worker.id}/catalogue`;
const attemptOf = ({ jobId, attempt }: GatewayAttempt): string => `jobs/${jobId}/attempts/${attempt}`;

/** A catalogue with a text of its own, of so many bytes and a few more. */
function catalogue(bytes: number, text = 'x'): { engine: 'cpu'; catalogue: NodeCatalogue } {
  const description = text.repeat(bytes / text.length);
  const node = { displayName: '', category: '', description, inputs: {}, outputs: [], outputNode: true };
  return { engine: 'cpu', catalogue: { [`Made${newId()}`]: node } };
}

/**
 * Have a body of a worker counted that uses up what its token may have in flight: of two, one is refused once the other counts.
 *
 * @returns the one that is not answered, and the answer of the other.
 */
async function occupy(worker: RemoteWorker): Promise<[counts: HeldRequest, refused: Awaited<HeldRequest['answer']>]> {
  const [one, two] = [0, 1].map(() => begin(worker.token, catalogueOf(worker), 2 * MIB)) as [HeldRequest, HeldRequest];
  const refused = await eventually('one to be refused', () => [one, two].find(({ isAnswered }) => isAnswered));
  return [refused === one ? two : one, await refused.answer];
}

describe('a large body', () => {
  it('of a worker that did not join with the token is refused before any of it is read, however many come at once', async () => {
    const { token } = await world.pool();
    const neighbour = await world.worker();
    const ids = [neighbour.id, ...Array.from({ length: 9 }, () => randomUUID())];
    const requests = ids.map((id) => begin(token, `workers/${id}/catalogue`, LARGEST));
    for (const { answer } of requests) {
      expect(await answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    }
  });

  it('for an attempt that no worker of the token holds is refused before any of it is read', async () => {
    const [worker, stranger] = [await world.worker(), await world.worker()];
    await world.submit(worker.poolId);
    const attempt = await worker.take();
    const { body: place } = await worker.of(attempt, 'POST', 'uploads', { upload: null, number: 1, sizeBytes: MIB });
    const upload = { [GATEWAY_HEADERS.upload]: String(place.upload) };
    for (const [token, leaseToken] of [
      [stranger.token, attempt.leaseToken],
      [worker.token, randomUUID()],
    ] as const) {
      const headers = { [GATEWAY_HEADERS.lease]: leaseToken, ...upload };
      for (const path of ['log', 'uploads/parts/1']) {
        const { answer } = begin(token, `${attemptOf(attempt)}/${path}`, MIB, { headers });
        expect(await answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
      }
      // There is nothing left to record.
      const end = begin(token, `${attemptOf(attempt)}/ends`, MIB, { method: 'POST', headers });
      expect(await end.answer).toMatchObject({ status: 200, body: { recorded: true } });
    }
  });

  it('is refused by its declared length where that is above the limit', async () => {
    const worker = await world.worker();
    const { answer } = begin(worker.token, catalogueOf(worker), LARGEST + 1);
    expect(await answer).toMatchObject({ status: 413, body: { error: { code: 'payload_too_large' } } });
  });

  it('counts for its token while it comes: others of it are refused and may come again, small ones and other tokens pass', async () => {
    const [worker, other] = [await world.worker(), await world.worker()];
    const [first, refused] = await occupy(worker);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(first.isAnswered).toBe(false);
    await worker.report('ready');
    await other.expect(200, 'PUT', catalogueOf(other), catalogue(MIB));
    first.leave();
    await eventually('the count to be free again', async () => {
      const { status } = await worker.ask('PUT', catalogueOf(worker), catalogue(2 * MIB - 1_000));
      return status === 200;
    });
  });

  it('counts for its process, too', async () => {
    const workers = [await world.worker(), await world.worker(), await world.worker()] as const;
    for (const worker of workers.slice(0, 2)) await occupy(worker);
    const { status } = await workers[2].ask('PUT', catalogueOf(workers[2]), catalogue(1.5 * MIB));
    expect(status).toBe(429);
    await workers[2].expect(200, 'PUT', catalogueOf(workers[2]), catalogue(0.5 * MIB));
  });

  it('that is refused lets its connection serve the next request', async () => {
    const worker = await world.worker();
    const tooLarge = Buffer.alloc(LARGEST + 1, ' ');
    expect((await worker.ask('PUT', catalogueOf(worker), tooLarge)).status).toBe(413);
    await worker.report('ready');
  });
});

describe('a catalogue', () => {
  it('of the largest size is published, one after the other of a token', async () => {
    const worker = await world.worker();
    const sent = [catalogue(LARGEST - 1_000), catalogue(LARGEST - 1_000, 'y')];
    for (const body of sent) {
      const { body: answer } = await worker.expect(200, 'PUT', catalogueOf(worker), body);
      const { catalogueDigest } = await world.test.database.models.pool.findUniqueOrThrow({
        where: { id: worker.poolId },
      });
      expect(catalogueDigest).toBe(answer.digest);
    }
  });

  it('of which much is wrong is refused by its first fault', async () => {
    const worker = await world.worker();
    const wrong = { engine: 'cpu', catalogue: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [n, 0])) };
    const answer = await worker.ask('PUT', catalogueOf(worker), wrong);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'invalid_request' } } });
    expect(answer.text).toContain('catalogue.0');
    expect(answer.text.length).toBeLessThan(1_000);
  });
});
