import type { Readable } from 'node:stream';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import type { StoredBlob, StoredOutput } from '@millrace/assets';
import { GATEWAY_HEADERS, GatewayPartAnswerSchema, GatewayStoredSchema } from '@millrace/contracts';
import type { Fence } from '@millrace/jobs';
import { z } from 'zod';
import type { GatewayClient } from './gateway.client';
import { retried } from './retried';
import { putToStore, type StoreLinks } from './store-links';

/** Bytes that the gateway has stored for an attempt: the receipt stands for them when they are recorded. */
export interface RemoteBlob extends StoredBlob {
  receipt: string;
}

/**
 * Send the bytes of an output in parts, each held in memory so that it can be sent again, to the store where links lead to it, else to
 * the gateway. They are hashed here and there: what does not arrive as it was is refused.
 *
 * @param signal ends what is sent, and lets nothing be sent again.
 * @throws GatewayUnreachable, BlobStoreError, Refusal; the source's own error; the reason of the signal.
 */
export async function uploadOutput(
  client: GatewayClient,
  fence: Fence,
  source: Readable,
  {
    name,
    partBytes,
    links,
    signal,
  }: { name: string; partBytes: number; links: StoreLinks; signal?: AbortSignal | undefined },
): Promise<StoredOutput> {
  const hasher = new Blake3Hasher();
  let upload: string | null = null;
  let parts = 0;
  for await (const part of partsOf(source, partBytes)) {
    hasher.update(part);
    parts += 1;
    upload = await sendPart({ client, links }, fence, { upload, number: parts, part }, signal);
  }
  const body = { upload: upload ?? '', parts, hash: `blake3:${hasher.digest('hex')}`, name };
  const stored = await client.ask(GatewayStoredSchema, {
    method: 'POST',
    path: 'uploads/ends',
    fence,
    body,
    takes: 'bytes',
    signal,
  });
  const { receipt, contentType, hash, sizeBytes } = stored;
  // Which blob of whose account it is, the receipt says to the gateway.
  const blob: RemoteBlob = { receipt, hash, sizeBytes, accountId: '', bornAt: new Date(0) };
  return { blob, contentType };
}

interface Part {
  upload: string | null;
  number: number;
  part: Buffer;
}

/** @returns the name of the upload. */
async function sendPart(
  { client, links }: { client: GatewayClient; links: StoreLinks },
  fence: Fence,
  { upload, number, part }: Part,
  signal: AbortSignal | undefined,
): Promise<string> {
  const body = { upload, number, sizeBytes: part.length };
  const send = async (): Promise<string> => {
    const place = await client.ask(GatewayPartAnswerSchema, { method: 'POST', path: 'uploads', fence, body, signal });
    const byGateway = async (): Promise<void> => {
      const headers = { [GATEWAY_HEADERS.upload]: place.upload };
      const request = { method: 'PUT', path: `uploads/parts/${number}`, fence, headers, body: part, signal } as const;
      await client.ask(z.object({}), { ...request, takes: 'bytes' });
    };
    await links.orGateway(place.url, (url) => putToStore(url, part, signal), byGateway, signal);
    return place.upload;
  };
  return retried(send, { signal });
}

/** Parts of one size, the last one smaller. A source without bytes has one part without any. */
async function* partsOf(source: Readable, partBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  let sent = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    for (let rest = chunk; rest.length > 0;) {
      const taken = rest.subarray(0, partBytes - size);
      held.push(taken);
      size += taken.length;
      rest = rest.subarray(taken.length);
      if (size === partBytes) {
        yield Buffer.concat(held);
        sent += 1;
        held = [];
        size = 0;
      }
    }
  }
  if (size > 0 || sent === 0) yield Buffer.concat(held);
}
