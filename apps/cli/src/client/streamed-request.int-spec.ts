import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytes, json, StandInService } from '../fixtures/stand-in-service';
import { multipartBody, type StreamedBody } from './multipart-body';
import { streamedRequest } from './streamed-request';

let service: StandInService;
let folder: string;

beforeEach(async () => {
  service = await StandInService.start();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function bodyOf(content: Buffer, fileName = 'photo.png'): Promise<StreamedBody> {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const fields: [string, string][] = [
    ['tags', 'a'],
    ['tags', 'ü\r\n--x'],
  ];
  return multipartBody(fields, { path, sizeBytes: content.byteLength, fileName, contentType: 'image/png' });
}

function post(body: StreamedBody, signal?: AbortSignal): Promise<Response> {
  return streamedRequest(new URL(service.url), { method: 'POST', headers: { 'x-own': '1' }, body, signal });
}

describe('an upload', () => {
  it.each([0, 5, 300_000])('of %d bytes arrives as a form, with its length sent beforehand', async (sizeBytes) => {
    service.on('POST /', json(201, { ok: true }));
    const content = Buffer.alloc(sizeBytes, 'pixels');
    const answer = await post(await bodyOf(content, 'we"ird\nname.png'));
    expect([answer.status, await answer.json()]).toEqual([201, { ok: true }]);
    const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = service.received;
    expect(headers).toMatchObject({ 'x-own': '1', 'content-length': String(body.byteLength) });
    const form = await new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData();
    expect(form.getAll('tags')).toEqual(['a', 'ü\r\n--x']);
    const file = form.get('file') as File;
    expect([file.name, file.type]).toEqual(['we"ird\nname.png', 'image/png']);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(content);
  });

  it('is ended by an answer that comes before all was sent', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(413, { 'content-type': 'application/json' });
      response.end('{"error":{"code":"payload_too_large","message":"Too large."}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const answer = await streamedRequest(url, {
      method: 'POST',
      headers: {},
      body: await bodyOf(Buffer.alloc(50_000_000)),
    });
    expect([answer.status, await answer.json()]).toEqual([
      413,
      { error: { code: 'payload_too_large', message: 'Too large.' } },
    ]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('fails when its file goes away, and when it is interrupted', async () => {
    service.on('POST /', bytes(Buffer.alloc(0)));
    const body = await bodyOf(Buffer.from('x'));
    await rm(join(folder, 'file'));
    await expect(post(body)).rejects.toThrow(/file cannot be read: no such file\./);
    await expect(post(await bodyOf(Buffer.from('x')), AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});
