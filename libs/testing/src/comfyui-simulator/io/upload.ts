import { Busboy } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';

export interface Upload {
  fields: Record<string, string>;
  /** The part called `image`, a picture or not. */
  file: { name: string; bytes: Buffer } | null;
}

/** Reads a multipart body as `/upload/image` takes it. */
export async function readUpload(request: IncomingMessage): Promise<Upload> {
  const upload: Upload = { fields: {}, file: null };
  const type = request.headers['content-type'] ?? '';
  const parser = new Busboy({ headers: { ...request.headers, 'content-type': type } });
  parser.on('field', (name, value) => (upload.fields[name] = value));
  parser.on('file', (field, stream, name) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      if (field === 'image') upload.file = { name, bytes: Buffer.concat(chunks) };
    });
  });
  await new Promise((resolve, reject) => request.pipe(parser).once('finish', resolve).once('error', reject));
  return upload;
}
