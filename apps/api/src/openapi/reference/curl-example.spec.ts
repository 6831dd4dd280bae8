import { curlExample } from './curl-example';
import type { Method } from '../../endpoints';
import type { Operation } from '../openapi-types';

const operation = (more: Partial<Operation>): Operation => ({
  operationId: 'x',
  tags: [],
  summary: '',
  description: '',
  responses: {},
  ...more,
});
const json = (example?: unknown): Partial<Operation> => ({
  requestBody: { required: true, content: { 'application/json': { schema: {}, example } } },
});

describe('the example of an operation', () => {
  it.each<[string, Method, Partial<Operation>, string]>([
    [
      'reads with a credential',
      'get',
      {},
      'curl "$MILLRACE_URL/jobs/$ID" \\\n  -H "Authorization: Bearer $MILLRACE_KEY"',
    ],
    ['has no credential where none is asked for', 'get', { security: [] }, 'curl "$MILLRACE_URL/jobs/$ID"'],
    ['asks for headers alone', 'head', { security: [] }, 'curl --head \\\n  "$MILLRACE_URL/jobs/$ID"'],
    [
      'sends the example of its body',
      'post',
      { security: [], ...json({ a: 1 }) },
      'curl -X POST \\\n  "$MILLRACE_URL/jobs/$ID" \\\n  -H "Content-Type: application/json" \\\n  -d \'{"a":1}\'',
    ],
    [
      'sends a file where its body has no example',
      'post',
      { security: [], ...json() },
      'curl -X POST \\\n  "$MILLRACE_URL/jobs/$ID" \\\n  -H "Content-Type: application/json" \\\n  -d @body.json',
    ],
  ])('%s', (_, method, more, text) => {
    expect(curlExample('/jobs/{id}', method, operation(more))).toBe(text);
  });
});
