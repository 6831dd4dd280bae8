import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import { GATEWAY_HEADERS, newId, type GatewayAttempt } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import { GatewayWorld, type GatewayAnswer, type RemoteWorker } from './fixtures/gateway-world';

let world: GatewayWorld;
beforeAll(async () => {
  world = await GatewayWorld.open({ workersPerToken: 2, leaseSeconds: 599 });
});
afterAll(() => world.close());

const hashOf = (bytes: Buffer): string => `blake3:${new Blake3Hasher().update(bytes).digest('hex')}`;
const codeOf = ({ body }: GatewayAnswer): unknown => (body.error as { code?: unknown } | undefined)?.code;
const run = { progress: null, engineMs: 0 };
const succeeded = {
  kind: 'finished',
  result: { ending: 'succeeded', failure: null, engineMs: 5, progress: null, nodes: null, log: null },
  last: null,
};

/** Send bytes for an attempt. @returns the answer to the upload's end. */
async function send(
  worker: RemoteWorker,
  attempt: GatewayAttempt,
  bytes: Buffer,
  hash = hashOf(bytes),
): Promise<GatewayAnswer> {
  const place = await worker.of(attempt, 'POST', 'uploads', { upload: null, number: 1, sizeBytes: bytes.length });
  const upload = String(place.body.upload);
  expect(place).toMatchObject({ status: 200, body: { url: null } });
  const sent = await worker.of(attempt, 'PUT', 'uploads/parts/1', bytes, { [GATEWAY_HEADERS.upload]: upload });
  expect(sent.status).toBe(200);
  return worker.of(attempt, 'POST', 'uploads/ends', { upload, parts: 1, hash, name: 'a.txt' });
}

const outputWith = (receipt: unknown) => ({
  ...{ nodeId: '1', nodeIndex: 0, ordinal: 0, name: 'a.txt', contentType: 'text/plain' },
  receipt: String(receipt),
});

describe('a worker outside the cluster', () => {
  it('takes an attempt, keeps it, stores an output and ends it', async () => {
    const worker = await world.worker();
    const job = await world.submit(worker.poolId);
    const attempt = await worker.take();
    expect(attempt).toMatchObject({ jobId: job, attempt: 1, poolId: worker.poolId, hasSecrets: false });
    expect(attempt).toMatchObject({ leaseSeconds: 599 });
    expect(await worker.of(attempt, 'POST', 'heartbeats', run)).toMatchObject({
      body: { answer: { status: 'running', exhausted: false, overtime: false, leaseSeconds: 599 } },
    });
    const progress = { value: 0.5, nodes_done: 0, nodes_total: 1 };
    expect((await worker.of(attempt, 'POST', 'events', { kind: 'progress', progress })).status).toBe(200);
    const stored = await send(worker, attempt, Buffer.from('made'));
    expect(stored.body).toMatchObject({ hash: hashOf(Buffer.from('made')), sizeBytes: 4 });
    const recorded = await worker.of(attempt, 'POST', 'outputs', outputWith(stored.body.receipt));
    expect(recorded.body).toEqual({ recorded: true });
    expect((await worker.of(attempt, 'POST', 'ends', succeeded)).body).toEqual({ recorded: true });
    expect((await world.job(job)).status).toBe('succeeded');
    const outputs = await world.test.database.models.jobOutput.findMany({ where: { jobId: job } });
    expect(outputs).toMatchObject([{ nodeId: '1', name: 'a.txt' }]);
    // What was reported already is reported again by a worker that did not receive the answer.
    expect((await worker.of(attempt, 'POST', 'ends', succeeded)).body).toEqual({ recorded: true });
    expect((await worker.of(attempt, 'POST', 'heartbeats', run)).body).toEqual({ answer: null });
  });

  it('is counted by how its requests ended, from none on', async () => {
    const text = await world.metrics.registry.metrics();
    for (const outcome of ['answered', 'refused', 'failed', 'left']) {
      expect(text).toMatch(
        new RegExp(`^millrace_gateway_requests_total\\{outcome="${outcome}",role="test"\\} \\d+$`, 'm'),
      );
    }
    const count = async (outcome: string): Promise<number> =>
      (await world.metrics.remoteRequests.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
    const before = [await count('answered'), await count('refused')];
    const worker = await world.worker();
    await worker.ask('POST', 'nothing-here', {});
    await eventually('both to be counted', async () => {
      return (await count('answered')) > (before[0] ?? 0) && (await count('refused')) > (before[1] ?? 0);
    });
  });

  it('records its last output with the end', async () => {
    const worker = await world.worker();
    const job = await world.submit(worker.poolId);
    const attempt = await worker.take();
    const { body } = await send(worker, attempt, Buffer.from('last'));
    const end = { ...succeeded, last: outputWith(body.receipt) };
    expect((await worker.of(attempt, 'POST', 'ends', end)).body).toEqual({ recorded: true });
    expect(await world.test.database.models.jobOutput.count({ where: { jobId: job } })).toBe(1);
  });

  it('reads the inputs of its job, and no other asset of the account', async () => {
    const worker = await world.worker();
    const accountId = await world.account();
    const [input, other] = [await world.upload(accountId, 'input'), await world.upload(accountId, 'other')];
    await world.submit(worker.poolId, { accountId, input });
    const attempt = await worker.take();
    expect((await worker.of(attempt, 'GET', `inputs/${input}`)).body).toMatchObject({ sizeBytes: 5, url: null });
    expect((await worker.of(attempt, 'GET', `inputs/${input}/content`)).text).toBe('input');
    const content = (range: string): Promise<GatewayAnswer> =>
      worker.of(attempt, 'GET', `inputs/${input}/content`, undefined, { range });
    expect(await content('bytes=2-')).toMatchObject({ status: 206, text: 'put' });
    expect(await content('bytes=5-')).toMatchObject({ status: 206, text: '' });
    expect(await content('lines=2-')).toMatchObject({ status: 200, text: 'input' });
    for (const path of [`inputs/${other}`, `inputs/${other}/content`, `inputs/${randomUUID()}`]) {
      expect((await worker.of(attempt, 'GET', path)).status).toBe(404);
    }
  });

  it('says which bytes an input must have, and a report that they are damaged counts only if they are, where they lie', async () => {
    const worker = await world.worker();
    const accountId = await world.account();
    const [input, other] = [await world.upload(accountId, 'input'), await world.upload(accountId, 'other')];
    await world.submit(worker.poolId, { accountId, input });
    const attempt = await worker.take();
    const path = `inputs/${input}`;
    expect((await worker.of(attempt, 'GET', path)).body).toMatchObject({ hash: hashOf(Buffer.from('input')) });
    expect((await worker.of(attempt, 'POST', `${path}/doubts`, {})).body).toEqual({ damaged: false });
    expect((await worker.of(attempt, 'GET', `${path}/content`)).text).toBe('input');
    expect((await worker.of(attempt, 'POST', `inputs/${other}/doubts`, {})).status).toBe(404);

    await world.damage(input, 'INPUT');
    expect((await worker.of(attempt, 'POST', `${path}/doubts`, {})).body).toEqual({ damaged: true });
    for (const asked of [path, `${path}/content`]) {
      const answer = await worker.of(attempt, 'GET', asked);
      expect([answer.status, codeOf(answer)]).toEqual([410, 'content_lost']);
    }
  });

  it('receives that its job is to be canceled, and nothing of jobs of others', async () => {
    const worker = await world.worker();
    const other = await world.worker({ ...worker });
    const job = await world.submit(worker.poolId);
    await worker.take();
    const leaving = new AbortController();
    const path = `workers/${other.id}/controls`;
    const nothing = world.ask('POST', path, { token: other.token, signal: leaving.signal }).catch(() => 'nothing');
    let received: unknown;
    void worker.expect(200, 'POST', `workers/${worker.id}/controls`).then(({ body }) => (received = body));
    await eventually('the worker to receive it', async () => {
      await world.announceCancel(worker.poolId, job);
      return received !== undefined;
    });
    expect(received).toEqual({ cancel: [job] });
    leaving.abort();
    expect(await nothing).toBe('nothing');
  });

  it('leaves a message, which another takes', async () => {
    const worker = await world.worker();
    const job = await world.submit(worker.poolId);
    const message = await worker.offer();
    const other = await world.worker({ ...worker });
    const offered = other.take();
    await worker.expect(200, 'POST', `workers/${worker.id}/offers/left`, { message });
    expect((await offered).jobId).toBe(job);
  });

  it('gets the credentials of the attempt that it holds', async () => {
    const worker = await world.worker();
    await world.submit(worker.poolId, { extraData: { api_key_comfy_org: 'a-secret' } });
    const attempt = await worker.take();
    const { body } = await worker.of(attempt, 'GET', 'credentials');
    expect(body).toEqual({ credentials: { api_key_comfy_org: 'a-secret' } });
    await worker.of(attempt, 'POST', 'ends', { kind: 'handed_back' });
    expect((await worker.of(attempt, 'GET', 'credentials')).status).toBe(403);
  });
});

describe('a token', () => {
  it('is needed, with the protocol of the gateway', async () => {
    const { token } = await world.pool();
    const wrong = `mrw_${randomBytes(32).toString('base64url')}`;
    for (const given of [undefined, 'x', wrong]) {
      expect(await world.ask('GET', 'terms', given === undefined ? {} : { token: given })).toMatchObject({
        status: 401,
      });
    }
    const headers = { [GATEWAY_HEADERS.protocol]: '999' };
    const other = await world.ask('GET', 'terms', { token, headers });
    expect(other).toMatchObject({ status: 400, body: { error: { details: { protocol: 1 } } } });
    expect((await world.ask('GET', 'terms', { token })).status).toBe(200);
  });

  it('is kept as a hash alone', async () => {
    const { token, tokenId } = await world.pool();
    const row = await world.test.database.models.workerToken.findUniqueOrThrow({ where: { id: tokenId } });
    expect(Buffer.from(row.hash)).toEqual(createHash('sha256').update(token).digest());
  });

  it('ends the work of its workers when it is revoked, and when it expires', async () => {
    const worker = await world.worker();
    const job = await world.submit(worker.poolId);
    const attempt = await worker.take();
    const [record] = await world.tokens.list(worker.poolId);
    await world.tokens.revoke(world.test.database, worker.poolId, String(record?.id));
    expect(await worker.of(attempt, 'POST', 'heartbeats', run)).toMatchObject({ status: 401 });
    expect(await worker.of(attempt, 'POST', 'ends', succeeded)).toMatchObject({ status: 401 });
    expect((await world.job(job)).status).toBe('running');
    const { token, tokenId } = await world.token(worker.poolId, new Date(Date.now() + 600_000));
    expect((await world.ask('GET', 'terms', { token })).status).toBe(200);
    await world.test.database.models.workerToken.update({
      where: { id: tokenId },
      data: { expiresAt: new Date(Date.now() - 1_000) },
    });
    expect((await world.ask('GET', 'terms', { token })).status).toBe(401);
  });

  it('that was revoked asks for no more than one that works', async () => {
    const few = await GatewayWorld.open({ requestsPerMinute: 2 });
    const { token, tokenId, poolId } = await few.pool();
    const ask = async (): Promise<number> => (await few.ask('GET', 'terms', { token })).status;
    const before = await ask();
    await few.tokens.revoke(few.test.database, poolId, tokenId);
    expect([before, await ask(), await ask()]).toEqual([200, 401, 429]);
    await few.close();
  });

  it('has no more workers than it may, and a worker that registers again is the same', async () => {
    const pool = await world.pool();
    const [first] = [await world.worker(pool), await world.worker(pool)];
    const third = world.worker(pool);
    await expect(third).rejects.toThrow('2 workers');
    await first?.join();
    await first?.report('stopped');
    await expect(world.worker(pool)).resolves.toBeDefined();
  });

  it('lets no worker ask for work that has stopped, and one that was silent once it has reported', async () => {
    const pool = await world.pool();
    const [stopped, silent] = [await world.worker(pool), await world.worker(pool)];
    await stopped.report('stopped');
    await world.silence(silent.id);
    const message = { jobId: newId(), attempt: 1 };
    for (const { id, token } of [stopped, silent]) {
      for (const [what, body] of [['offers'], ['controls'], ['claims', { message, warm: [] }]] as const) {
        const answer = await world.ask('POST', `workers/${id}/${what}`, { token, ...(body && { body }) });
        expect({ what, code: codeOf(answer) }).toEqual({ what, code: 'forbidden' });
      }
    }
    await silent.report('ready');
    const job = await world.submit(pool.poolId);
    expect((await silent.take()).jobId).toBe(job);
  });

  it('says of a worker that is not known any more that it is to register, with which it takes work again', async () => {
    const worker = await world.worker();
    await world.test.database.models.worker.delete({ where: { id: worker.id } });
    const body = { state: 'ready', residentModels: [], problem: null };
    expect(await worker.ask('POST', `workers/${worker.id}/reports`, body)).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden', details: { not_joined: true } } },
    });
    await worker.join();
    const job = await world.submit(worker.poolId);
    expect((await worker.take()).jobId).toBe(job);
  });

  it('has no more workers than it may where silent ones come back', async () => {
    const pool = await world.pool();
    const silent = [await world.worker(pool), await world.worker(pool)] as const;
    for (const { id } of silent) await world.silence(id);
    const [one] = [await world.worker(pool), await world.worker(pool)];
    const back = { state: 'ready', residentModels: [], problem: null };
    const refused = await silent[0].ask('POST', `workers/${silent[0].id}/reports`, back);
    expect(refused.text).toContain('2 workers');
    expect(codeOf(refused)).toBe('forbidden');
    // That it has stopped takes no place.
    await silent[1].report('stopped');
    await one?.report('stopped');
    expect((await silent[0].report('ready')).body).toEqual({ state: 'ready' });
  });

  it('has its workers join a few times a minute, however many of them have stopped', async () => {
    const pool = await world.pool();
    const registration = { engine: 'cpu', version: 'test', host: 'test', pid: 1, capacity: 1 };
    const { id } = await world.worker(pool);
    const join = (): Promise<GatewayAnswer> =>
      world.ask('PUT', `workers/${id}`, { token: pool.token, body: registration });
    for (let joins = 1; joins < 20; joins += 1) expect((await join()).status).toBe(200);
    expect(await join()).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect((await world.worker()).id).not.toBe(id);
  });
});

describe('a worker of another pool', () => {
  it('claims nothing of this one', async () => {
    const [worker, stranger] = [await world.worker(), await world.worker()];
    const job = await world.submit(worker.poolId);
    const message = await worker.offer();
    expect(await stranger.claim(message)).toBeNull();
    expect(await world.job(job)).toMatchObject({ delivery: 'dispatched', attempt: 0 });
    // Nor does it act as a worker of this pool.
    const path = `workers/${worker.id}/claims`;
    expect(await stranger.ask('POST', path, { message, warm: [] })).toMatchObject({ status: 403 });
    expect(await worker.claim(message)).not.toBeNull();
  });

  it('is refused everything of an attempt that it does not hold, even with its fence', async () => {
    const [worker, stranger] = [await world.worker(), await world.worker()];
    const accountId = await world.account();
    const input = await world.upload(accountId, 'input');
    const job = await world.submit(worker.poolId, { accountId, input, extraData: { api_key_comfy_org: 'a-secret' } });
    const attempt = await worker.take();
    const forged = { ...attempt, leaseToken: randomUUID() };
    const requests: [string, string, object?][] = [
      ['POST', 'events', { kind: 'progress', progress: { value: 1, nodes_done: 1, nodes_total: 1 } }],
      ['PUT', 'log', { text: 'x', truncated: false }],
      ['GET', 'credentials'],
      ['GET', `inputs/${input}`],
      ['GET', `inputs/${input}/content`],
      ['POST', `inputs/${input}/doubts`],
      ['POST', 'uploads', { upload: null, number: 1, sizeBytes: 1 }],
    ];
    for (const [method, path, body] of requests) {
      expect({ path, code: codeOf(await stranger.of(attempt, method, path, body)) }).toEqual({
        path,
        code: 'forbidden',
      });
      expect({ path, code: codeOf(await worker.of(forged, method, path, body)) }).toEqual({ path, code: 'forbidden' });
    }
    for (const [who, fence] of [
      [stranger, attempt],
      [worker, forged],
    ] as const) {
      expect((await who.of(fence, 'POST', 'heartbeats', run)).body).toEqual({ answer: null });
      await who.of(fence, 'POST', 'ends', succeeded);
      await who.of(fence, 'POST', 'ends', { kind: 'handed_back' });
      await who.of(fence, 'POST', 'ends', { kind: 'given_up', loss: { by: 'worker', reason: 'x' } });
    }
    expect(await world.job(job)).toMatchObject({ status: 'running', delivery: 'leased', attempt: 1 });
  });

  it('is refused within a pool too, where another token has joined it', async () => {
    const worker = await world.worker();
    const neighbour = await world.worker({ poolId: worker.poolId, ...(await world.token(worker.poolId)) });
    await world.submit(worker.poolId);
    const message = await worker.offer();
    const attempt = (await worker.claim(message)) as GatewayAttempt;
    expect((await neighbour.of(attempt, 'GET', 'credentials')).status).toBe(403);
    expect((await neighbour.ask('POST', `workers/${worker.id}/offers`)).status).toBe(403);
  });
});

describe('an output', () => {
  it('is refused when its bytes are not those of its hash', async () => {
    const worker = await world.worker();
    await world.submit(worker.poolId);
    const attempt = await worker.take();
    const wrong = hashOf(Buffer.from('something else'));
    expect(codeOf(await send(worker, attempt, Buffer.from('bytes'), wrong))).toBe('hash_mismatch');
    expect((await send(worker, attempt, Buffer.from('bytes'))).status).toBe(200);
  });

  it('is recorded of the attempt alone for which its bytes were sent', async () => {
    const worker = await world.worker();
    const [first, second] = [await world.submit(worker.poolId), await world.submit(worker.poolId)];
    const one = await worker.take();
    const { body } = await send(worker, one, Buffer.from('of the first'));
    await worker.of(one, 'POST', 'ends', succeeded);
    const two = await worker.take();
    expect([first, second].sort()).toEqual([one.jobId, two.jobId].sort());
    const foreign = await worker.of(two, 'POST', 'outputs', outputWith(body.receipt));
    expect(codeOf(foreign)).toBe('forbidden');
    const withEnd = { ...succeeded, last: outputWith(body.receipt) };
    expect(codeOf(await worker.of(two, 'POST', 'ends', withEnd))).toBe('forbidden');
    expect(codeOf(await worker.of(two, 'POST', 'outputs', outputWith('made-up')))).toBe('forbidden');
    expect(await world.test.database.models.jobOutput.count({ where: { jobId: two.jobId } })).toBe(0);
  });

  it('goes into no upload of another attempt', async () => {
    const worker = await world.worker();
    await Promise.all([world.submit(worker.poolId), world.submit(worker.poolId)]);
    const one = await worker.take();
    const place = await worker.of(one, 'POST', 'uploads', { upload: null, number: 1, sizeBytes: 1 });
    await worker.of(one, 'POST', 'ends', succeeded);
    const two = await worker.take();
    const headers = { [GATEWAY_HEADERS.upload]: String(place.body.upload) };
    expect(codeOf(await worker.of(two, 'PUT', 'uploads/parts/1', Buffer.from('x'), headers))).toBe('forbidden');
    const end = { upload: String(place.body.upload), parts: 1, hash: hashOf(Buffer.from('x')), name: 'x' };
    expect(codeOf(await worker.of(two, 'POST', 'uploads/ends', end))).toBe('forbidden');
  });

  it('is refused as a part that is larger than parts are', async () => {
    const worker = await world.worker();
    await world.submit(worker.poolId);
    const attempt = await worker.take();
    const part = { upload: null, number: 1, sizeBytes: 6 * 1024 * 1024 };
    expect(codeOf(await worker.of(attempt, 'POST', 'uploads', part))).toBe('payload_too_large');
  });
});

describe('what a worker sends', () => {
  it('is checked, and every fault named', async () => {
    const worker = await world.worker();
    const answer = await worker.ask('POST', `workers/${worker.id}/reports`, { state: 'asleep', residentModels: [] });
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'invalid_request' } } });
    expect(answer.text).toContain('state');
    expect(answer.text).toContain('problem');
    const ending = { ...succeeded, result: { ...succeeded.result, ending: 'attempts_used_up' } };
    await world.submit(worker.poolId);
    const attempt = await worker.take();
    expect((await worker.of(attempt, 'POST', 'ends', ending)).text).toContain('result.ending');
    expect((await worker.ask('GET', 'nothing')).status).toBe(404);
    expect((await worker.ask('POST', `workers/${newId()}/offers`)).status).toBe(403);
  });

  it('is bounded', async () => {
    const worker = await world.worker();
    const report = { state: 'ready', residentModels: [], problem: 'x'.repeat(3 * 1024 * 1024) };
    const answer = await worker.ask('POST', `workers/${worker.id}/reports`, report).catch(() => null);
    // The connection may end while the rest is on its way.
    expect(answer === null ? 'payload_too_large' : codeOf(answer)).toBe('payload_too_large');
  });
});

describe('a lost link', () => {
  it('leaves the message to others when the worker goes away with it', async () => {
    const worker = await world.worker();
    const leaving = new AbortController();
    const path = `workers/${worker.id}/offers`;
    const asked = world.ask('POST', path, { token: worker.token, signal: leaving.signal }).catch(() => 'gone');
    leaving.abort();
    expect(await asked).toBe('gone');
    const job = await world.submit(worker.poolId);
    const other = await world.worker({ ...worker });
    expect((await other.take()).jobId).toBe(job);
    await eventually('the attempt to be held', async () => (await world.job(job)).workerId === other.id);
  });
});

describe('a gateway that stops', () => {
  it('answers those who wait, and ends the connections of those who go on to ask', async () => {
    const own = await GatewayWorld.open();
    const { id, token } = await own.worker();
    const asksOn = async (what: string): Promise<unknown> => {
      for (let asked = 0; ; asked += 1) {
        try {
          await own.ask('POST', `workers/${id}/${what}`, { token });
        } catch {
          return asked > 0 ? 'was answered, and found it gone' : 'was cut off';
        }
      }
    };
    const asking = [asksOn('controls'), asksOn('offers')];
    // It has answered something on a connection that stays open.
    await own.ask('GET', 'nothing', { token });
    await own.close();
    expect(await Promise.all(asking)).toEqual(Array(2).fill('was answered, and found it gone'));
  });
});
