import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blake3 } from '@napi-rs/blake-hash';
import { newId } from '@millrace/contracts';
import { FakeHost } from './fixtures/fake-host';
import { json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const MODELS = '/platform/v1/models';
const ID = newId();
const FILE = 'the weights';
const hashOf = (text: string): string => `blake3:${blake3(Buffer.from(text)).toString('hex')}`;

let service: StandInService;
let host: FakeHost;
let folder: string;
beforeEach(async () => {
  service = await StandInService.start();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-models-'));
  host = new FakeHost({ env: { MILLRACE_URL: service.url }, speed: 100_000 });
  await writeFile(join(folder, 'a.safetensors'), FILE);
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

function modelOf(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const name = { folder: 'loras', name: 'a.safetensors' };
  const size = { size_bytes: FILE.length, received_bytes: 0 };
  return {
    id: ID,
    ...name,
    ...size,
    shared: false,
    state: 'uploading',
    problem: null,
    kind: null,
    hash: null,
    ...fields,
  };
}

/** An upload of one part, which has arrived or not. */
function uploading(received: boolean): Record<string, unknown> {
  const part = { number: 1, size_bytes: FILE.length, received, url: received ? null : `${service.url}/part` };
  return modelOf({ upload: { part_size_bytes: FILE.length, parts: [part] } });
}

const ready = modelOf({ state: 'ready', hash: hashOf(FILE), received_bytes: FILE.length });
const upload = (): Promise<number> => runCli(['models', 'upload', join(folder, 'a.safetensors'), 'loras'], host);
const exists = refusal(409, 'model_exists', 'There is a model of that name.');

describe('millrace models upload', () => {
  it('sends the parts of a file with its hash, and completes it', async () => {
    service.on(`POST ${MODELS}`, json(201, modelOf())).on(`GET ${MODELS}/${ID}`, json(200, uploading(false)));
    service.on('PUT /part', json(200, {})).on(`POST ${MODELS}/${ID}/complete`, json(200, ready));
    expect(await upload()).toBe(0);
    expect(JSON.parse(String(service.requests(`POST ${MODELS}`)[0]?.body))).toMatchObject({ hash: hashOf(FILE) });
    expect(String(service.requests('PUT /part')[0]?.body)).toBe(FILE);
  });

  it('fails where the upload that it went on with had begun with another file', async () => {
    service.on(`POST ${MODELS}`, exists).on(`GET ${MODELS}`, json(200, { models: [modelOf()] }));
    service.on(`GET ${MODELS}/${ID}`, json(200, uploading(true)));
    service.on(`POST ${MODELS}/${ID}/complete`, json(200, { ...ready, hash: hashOf('other bytes') }));
    expect(await upload()).toBe(6);
    expect(host.noted).toMatch(new RegExp(`hash_mismatch.*another file[^]*models delete ${ID}`));
  });

  it('sends nothing where the upload that it would go on with was announced with other bytes', async () => {
    service.on(`POST ${MODELS}`, exists).on(`GET ${MODELS}`, json(200, { models: [modelOf()] }));
    const { upload: open } = uploading(false);
    const begun = modelOf({ upload: { ...(open as object), expected_hash: hashOf('other bytes') } });
    service.on(`GET ${MODELS}/${ID}`, json(200, begun));
    expect(await upload()).toBe(6);
    expect(host.noted).toMatch(new RegExp(`hash_mismatch.*another file[^]*models delete ${ID}`));
    expect(service.requests('PUT /part')).toHaveLength(0);
  });

  it('is complete also where the answer is lost while the service joins the parts', async () => {
    service.on(`POST ${MODELS}`, json(201, modelOf())).on(`GET ${MODELS}/${ID}`, json(200, uploading(true)));
    const busy = refusal(409, 'upload_incomplete', 'The upload is being completed.');
    service.on(`POST ${MODELS}/${ID}/complete`, (response) => void response.destroy(), busy, busy, json(200, ready));
    expect(await upload()).toBe(0);
    expect(service.requests(`POST ${MODELS}/${ID}/complete`)).toHaveLength(4);
  });

  it('is not asked for again where parts are missing, or the service is away for good', async () => {
    service.on(`POST ${MODELS}`, json(201, modelOf())).on(`GET ${MODELS}/${ID}`, json(200, uploading(true)));
    const missing = refusal(409, 'upload_incomplete', 'A part is missing.', { details: { missing: [1] } });
    service.on(`POST ${MODELS}/${ID}/complete`, json(503, {}), missing);
    expect(await upload()).toBe(3);
    expect(service.requests(`POST ${MODELS}/${ID}/complete`)).toHaveLength(2);
    service.on(`POST ${MODELS}/${ID}/complete`, (response) => void response.destroy());
    expect(await upload()).toBe(6);
  });

  it('of a file that is a model already is that model, and of other bytes is refused', async () => {
    service.on(`POST ${MODELS}`, exists).on(`GET ${MODELS}`, json(200, { models: [ready] }));
    expect([await upload(), host.printed]).toEqual([0, expect.stringContaining(ID)]);
    service.on(`GET ${MODELS}`, json(200, { models: [{ ...ready, hash: hashOf('other bytes') }] }));
    expect(await upload()).toBe(3);
  });
});
