import type { ApiClient } from './api-client';

const LENGTH_BYTES = 8;
const OCTETS = { 'content-type': 'application/octet-stream' };

interface OpenUpload {
  id: string;
  upload: { parts: { url: string }[] };
}

/** A whole safetensors file with these bytes as its weights. */
export function weightsOf(data: Buffer | string): Buffer {
  const bytes = Buffer.from(data as string);
  const tensor = { dtype: 'U8', shape: [bytes.length], data_offsets: [0, bytes.length] };
  const header = Buffer.from(JSON.stringify({ 'double_blocks.0.weight': tensor }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, bytes]);
}

/** Put a model of one part into the library of the client's account. @returns its id. @throws when it does not become ready. */
export async function uploadModel(
  client: ApiClient,
  { folder = 'checkpoints', name }: { folder?: string; name: string },
  content: Buffer,
): Promise<string> {
  const json = { folder, name, size_bytes: content.length };
  const begun = await client.call<OpenUpload>('POST', '/platform/v1/models', { json });
  if (begun.status !== 201) throw new Error(begun.text);
  const { id, upload } = begun.body;
  const url = new URL(upload.parts[0]?.url ?? '', client.base);
  const sent = await fetch(url, { method: 'PUT', headers: OCTETS, body: new Uint8Array(content) });
  if (!sent.ok) throw new Error(`${url.pathname}: ${sent.status}`);
  const ready = await client.call('POST', `/platform/v1/models/${id}/complete`);
  if (ready.status !== 200) throw new Error(ready.text);
  return id;
}
