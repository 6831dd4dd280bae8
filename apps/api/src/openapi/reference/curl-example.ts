import type { Method } from '../../endpoints';
import type { MediaType, Operation } from '../openapi-types';

/** Values of paths that a reader fills in. */
const PLACE = /\{(\w+)\}/g;

/** How an operation is called from a terminal: one that can be copied, with `$MILLRACE_URL` and `$MILLRACE_KEY` set. */
export function curlExample(path: string, method: Method, operation: Operation): string {
  const options = [
    ...methodOption(method),
    `"$MILLRACE_URL${path.replace(PLACE, (_, name: string) => `$${name.toUpperCase()}`)}"`,
    ...(operation.security?.length === 0 ? [] : ['-H "Authorization: Bearer $MILLRACE_KEY"']),
    ...bodyOptions(operation.requestBody?.content ?? {}),
  ];
  return `curl ${options.join(' \\\n  ')}`;
}

function methodOption(method: Method): string[] {
  if (method === 'get') return [];
  return [method === 'head' ? '--head' : `-X ${method.toUpperCase()}`];
}

function bodyOptions(content: Record<string, MediaType>): string[] {
  const [type, media] = Object.entries(content)[0] ?? [];
  if (type === undefined || media === undefined) return [];
  if (type === 'multipart/form-data') {
    return ['-F content_type=image/png', '-F file_path=photo.png', '-F file=@photo.png'];
  }
  if (type !== 'application/json') return ['--data-binary @part.bin'];
  const body = media.example === undefined ? '@body.json' : `'${JSON.stringify(media.example)}'`;
  return ['-H "Content-Type: application/json"', `-d ${body}`];
}
