import { randomUUID } from 'node:crypto';
import { Refusal } from '@millrace/contracts';
import type { ClaimedAttempt } from '@millrace/jobs';
import type { GatewayClient, GatewayRequest } from './gateway.client';
import { RemoteModels, WARM_UP_SCOPE } from './remote-models';
import { StoreLinks } from './store-links';

type Claimed = Pick<ClaimedAttempt, 'accountId' | 'jobId' | 'attempt' | 'leaseToken' | 'workflow'>;

const staying = new AbortController().signal;
const DIGEST = 'a'.repeat(64);

function claimed(names: string[], accountId = 'scope'): Claimed {
  const nodes = names.map((ckpt_name, n) => [String(n), { class_type: 'Load', inputs: { ckpt_name } }]);
  const workflow = JSON.stringify(Object.fromEntries(nodes));
  return { accountId, jobId: randomUUID(), attempt: 1, leaseToken: randomUUID(), workflow };
}

let asked: GatewayRequest[];
/** Tokens of leases that the gateway knows no more. */
let lost: Set<string>;
let models: RemoteModels;
beforeEach(() => {
  asked = [];
  lost = new Set();
  const ask = (_schema: unknown, request: GatewayRequest): Promise<unknown> => {
    asked.push(request);
    if (lost.has(request.fence?.leaseToken ?? '')) return Promise.reject(new Refusal('forbidden', 'not held'));
    const { names } = request.body as { names: string[] };
    const files = names.map((name) => ({ folder: 'checkpoints', name, digest: DIGEST, sizeBytes: 1 }));
    return Promise.resolve({ files });
  };
  const client = { ask, download: () => Promise.reject(new Error('no bytes')) } as unknown as GatewayClient;
  models = new RemoteModels(client, new StoreLinks({ warn: () => undefined }));
});

const askedFor = (): unknown[] => asked.map(({ fence, body }) => [fence?.jobId, (body as { names: string[] }).names]);
const found = async (names: string[], scope = 'scope'): Promise<string[]> =>
  (await models.find(scope, names)).map(({ name }) => name);

describe('the models of a remote worker', () => {
  it('are asked for with one request, however many attempts of the account have ended before', async () => {
    for (let n = 0; n < 100; n += 1) {
      const before = claimed(['a.safetensors']);
      models.began(before);
      models.ended(before);
    }
    const now = claimed(['a.safetensors']);
    models.began(now);
    expect(await found(['a.safetensors'])).toEqual(['a.safetensors']);
    expect(askedFor()).toEqual([[now.jobId, ['a.safetensors']]]);
  });

  it('leave nothing in memory of accounts whose attempts have ended', () => {
    const all = Array.from({ length: 100 }, () => claimed(['a.safetensors'], randomUUID()));
    for (const one of all) models.began(one);
    expect(models.scopes).toBe(100);
    for (const one of all) models.ended(one);
    expect(models.scopes).toBe(0);
  });

  it('are asked for with the attempt whose graph names them, where several run', async () => {
    const [one, two] = [claimed(['a.safetensors']), claimed(['b.safetensors'])];
    models.began(one);
    models.began(two);
    expect(await found(['a.safetensors'])).toEqual(['a.safetensors']);
    expect(await found(['b.safetensors', 'c.safetensors'])).toEqual(['b.safetensors']);
    expect(askedFor()).toEqual([
      [one.jobId, ['a.safetensors']],
      [two.jobId, ['b.safetensors']],
    ]);
    models.ended(two);
    expect(await found(['b.safetensors'])).toEqual([]);
    expect(await found(['a.safetensors'], 'another')).toEqual([]);
  });

  it('are asked for with another attempt where a lease was lost, which is then forgotten', async () => {
    const [one, two] = [claimed(['a.safetensors']), claimed(['a.safetensors'])];
    models.began(one);
    models.began(two);
    lost.add(two.leaseToken);
    expect(await found(['a.safetensors'])).toEqual(['a.safetensors']);
    expect(await found(['a.safetensors'])).toEqual(['a.safetensors']);
    expect(asked.map(({ fence }) => fence?.jobId)).toEqual([two.jobId, one.jobId, one.jobId]);
  });

  it('are read for an attempt that runs, and for none that has ended', async () => {
    const one = claimed(['a.safetensors']);
    models.began(one);
    models.ended(one);
    const read = models.open({ accountId: 'scope', digest: DIGEST }, { start: 0, end: 1 }, staying);
    await expect(read).rejects.toMatchObject({ code: 'forbidden' });
    expect(asked).toEqual([]);
  });

  it('of a warm-up are asked for without an attempt', async () => {
    expect(await found(['a.safetensors'], WARM_UP_SCOPE)).toEqual(['a.safetensors']);
    expect(asked).toMatchObject([{ path: 'warm-up/models' }]);
    expect(asked[0]).not.toHaveProperty('fence');
  });
});
