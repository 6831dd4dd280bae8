import { randomBytes } from 'node:crypto';
import type { Asset, ResumableUploadView } from '@millrace/contracts';
import { RunningApi } from '../fixtures/running-api';

const MIB = 1_048_576;
const SIZE = 10 * MIB + 1_000;

let before: RunningApi;
let after: RunningApi;
beforeAll(async () => {
  before = await RunningApi.open({ MILLRACE_UPLOAD_PART_BYTES: String(10 * MIB) });
  const { env } = before;
  after = await RunningApi.open({ ...(env as Record<string, string>), MILLRACE_UPLOAD_PART_BYTES: String(5 * MIB) });
});
afterAll(async () => {
  await after.close();
  await before.close();
});

describe('an upload that was begun before parts were made smaller', () => {
  it('is sent in the parts that it was begun with, each of which has its own size at most', async () => {
    const { key } = await before.account();
    const begin = { json: { size_bytes: SIZE, content_type: 'text/plain', file_path: 'a.txt' } };
    const begun = await before.client(key).call<ResumableUploadView>('POST', '/api/v2/uploads', begin);
    expect(begun.status).toBe(201);
    const put = async (number: number, sizeBytes: number): Promise<Response> => {
      const { pathname, search } = new URL(begun.body.parts[number - 1]?.url ?? '');
      const body = new Uint8Array(randomBytes(sizeBytes));
      return fetch(`${after.publicUrl}${pathname}${search}`, { method: 'PUT', body });
    };
    const tooLarge = await put(2, 1_001);
    expect([tooLarge.status, await tooLarge.text()]).toEqual([422, expect.stringContaining('part 2 has exactly 1000')]);
    expect((await put(1, 10 * MIB)).status).toBe(204);
    expect((await put(2, 1_000)).status).toBe(204);
    const completed = await after.client(key).call<Asset>('POST', `/api/v2/uploads/${begun.body.id}/complete`);
    expect([completed.status, completed.body.size_bytes]).toEqual([201, SIZE]);
  });
});
