import { ErrorEnvelopeSchema, newId, type ErrorEnvelope } from '@millrace/contracts';
import { Prisma } from '@prisma/client';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';
import { exchangeRaw, type RawAnswer, type RawOptions } from './support/raw-http';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start({ settings: { MILLRACE_MAX_WORKFLOW_BYTES: '200000' } });
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(() => stack.stop());

/** The code of an answer that is an envelope, with the id and type that every answer has. */
function codeOf({ headers, body }: { headers: Record<string, string>; body: unknown }): string {
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  expect(headers['x-comfy-request-id']).toBe(headers['x-request-id']);
  return ErrorEnvelopeSchema.strict().parse(typeof body === 'string' ? JSON.parse(body) : body).error.code;
}

async function raw(...pieces: RawOptions['pieces']): Promise<RawAnswer> {
  const { answers, text } = await exchangeRaw(stack.publicUrl, {
    pieces,
    withinMs: 60_000,
    until: (received) => /\r\n\r\n\{.*\}$/s.test(received),
  });
  const [answer] = answers;
  if (answer === undefined) throw new Error(`no whole answer: ${text}`);
  return answer;
}

const head = (first: string, ...lines: string[]): string =>
  [first, 'Host: 127.0.0.1', `Authorization: Bearer ${account.apiKey}`, ...lines, '', ''].join('\r\n');

describe('every error is the envelope', () => {
  it.each(['/', '/api', '/api/v1/jobs', '/api/v2/nothing', '/api/v2/jobs/x/y/z', '/wp-login.php'])(
    'at an unknown path: %s',
    async (path) => {
      const answer = await client.call('GET', path);
      expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    },
  );

  it.each([
    ['GET', '/api/v2/jobs/'],
    ['POST', '/api/v2/jobs/'],
    ['GET', '/api/v2/assets/'],
    ['DELETE', '/api/v2/assets/'],
    ['GET', `/api/v2/jobs/${newId()}/`],
    ['GET', '/platform/v1/webhook-endpoints/'],
  ])('at a path that ends with a slash, which is no list: %s %s', async (method, path) => {
    const answer = await client.call<ErrorEnvelope>(method, path);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    expect(answer.body.error.message).toContain(`${path}: put the id behind the slash, or leave the slash out`);
  });

  it.each([
    ['PUT', '/api/v2/jobs', 'GET, HEAD, POST'],
    ['DELETE', `/api/v2/jobs/${newId()}`, 'GET, HEAD'],
    ['GET', `/api/v2/jobs/${newId()}/cancel`, 'POST'],
    ['PATCH', `/api/v2/assets/${newId()}`, 'DELETE, GET, HEAD'],
    ['POST', '/api/v2/openapi.json', 'GET, HEAD'],
    ['GET', '/api/v2/assets/from-hash', 'POST'],
    ['DELETE', '/api/v2/assets/from-hash', 'POST'],
  ])('with a wrong method, and Allow names the right ones: %s %s', async (method, path, allow) => {
    const answer = await client.call(method, path);
    expect([answer.status, codeOf(answer), answer.headers.allow]).toEqual([405, 'method_not_allowed', allow]);
  });

  it.each([
    ['limit=%zz', 'invalid_request'],
    ['anything=%ff', 'invalid_request'],
    ['metadata[a]=%zz', 'invalid_metadata_filter'],
  ])('with a malformed percent-escape in the query: %s', async (query, code) => {
    const answer = await client.call('GET', `/api/v2/jobs?${query}`);
    expect([answer.status, codeOf(answer)]).toEqual([400, code]);
  });

  it.each(['{', '', '{"workflow":{}', '{"a":01}', '[', '[1,]', 'nul', `${'['.repeat(50_000)}`, '{"a":"\u0001"}'])(
    'with malformed JSON: %#',
    async (text) => {
      const answer = await client.submit(text);
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    },
  );

  it.each(['/api/v2/jobs/%', '/api/v2/jobs/%zz', '/api/v2/jobs/%c3%28', '/api/v2/assets/%ff/content'])(
    'with a bad percent-escape: %s',
    async (path) => {
      const answer = await client.call('GET', path);
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    },
  );

  it('with a body that is not UTF-8', async () => {
    const bytes = Buffer.from('{"workflow":{"\xff":1}}', 'latin1');
    const answer = await raw(
      head('POST /api/v2/jobs HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${bytes.length}`),
      bytes,
    );
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
  });

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/jsonp'])(
    'with a content type that is not read: %s',
    async (type) => {
      const answer = await client.submit('{}', { 'Content-Type': type });
      expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('with an encoded body', async () => {
    const answer = await client.submit('{}', { 'Content-Encoding': 'gzip' });
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('a body that is too large', () => {
  const tooLarge = `{"workflow":{"1":"${'x'.repeat(3_000_000)}"}}`;

  it('is refused with 413, also while the client is still sending it', async () => {
    const answer = await client.submit(tooLarge);
    expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large']);
    expect(answer.body).toMatchObject({ error: { message: expect.stringContaining('200000 bytes') as string } });
  });

  it('is refused with 413 when its length was not declared', async () => {
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let at = 0; at < tooLarge.length; at += 65_536) {
        yield await Promise.resolve(Buffer.from(tooLarge.slice(at, at + 65_536)));
      }
    }
    const response = await fetch(`${stack.publicUrl}/api/v2/jobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
      body: pieces(),
      duplex: 'half',
    });
    expect(response.status).toBe(413);
    expect(ErrorEnvelopeSchema.parse(await response.json()).error.code).toBe('payload_too_large');
  });

  it('of a small request is refused likewise', async () => {
    const answer = await client.call('POST', '/api/v2/assets/from-hash', { text: `{"hash":"${'x'.repeat(70_000)}"}` });
    expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large']);
  });
});

describe('what is no HTTP request', () => {
  it('with headers too large for the parser is answered 431 in the envelope', async () => {
    const answer = await raw(head('GET /api/v2/jobs HTTP/1.1', `X-Filler: ${'x'.repeat(40_000)}`));
    expect([answer.status, codeOf(answer)]).toEqual([431, 'invalid_request']);
  });

  it.each([
    'NONSENSE\r\n\r\n',
    'GET  /api/v2/jobs HTTP/1.1\r\n\r\n',
    'GET /a b HTTP/1.1\r\n\r\n',
    '\x16\x03\x01\x02\r\n\r\n',
  ])('is answered 400 in the envelope: %#', async (text) => {
    const answer = await raw(text);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
  });

  it('without a Host, or with one that is none, is answered 400 in the envelope', async () => {
    for (const host of ['', 'Host:\r\n', 'Host: a b\r\n', 'Host: [\r\n', 'Host: x/y\r\n', 'Host: a@b:1\r\n']) {
      const answer = await raw(`GET /api/v2/jobs HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
      expect([host, answer.status, codeOf(answer)]).toEqual([host, 400, 'invalid_request']);
    }
  });

  it('with an expectation that cannot be met is answered 417 in the envelope', async () => {
    const answer = await raw(head('POST /api/v2/jobs HTTP/1.1', 'Expect: miracles', 'Content-Length: 2'), '{}');
    expect([answer.status, codeOf(answer)]).toEqual([417, 'invalid_request']);
  });

  it('asking for a tunnel is answered 405 in the envelope', async () => {
    const answer = await raw('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    expect([answer.status, codeOf(answer)]).toEqual([405, 'method_not_allowed']);
  });

  it('asking for another protocol is answered as if it had not asked', async () => {
    const answer = await raw(
      head('GET /api/v2/jobs HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
    );
    expect(answer.status).toBe(200);
  });
});

describe('a request that breaks off', () => {
  it('leaves nothing behind and the service as it was', async () => {
    const { answers } = await exchangeRaw(stack.publicUrl, {
      pieces: [head('POST /api/v2/jobs HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 100'), '{"work'],
      withinMs: 200,
    });
    expect(answers).toEqual([]);
    const multipart = ['Content-Type: multipart/form-data; boundary=b', 'Content-Length: 100000'];
    await exchangeRaw(stack.publicUrl, {
      pieces: [
        head('POST /api/v2/assets HTTP/1.1', ...multipart),
        '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhalf of it',
      ],
      withinMs: 200,
    });
    expect((await client.call('GET', '/api/v2/jobs')).status).toBe(200);
    expect(await stack.test.database.models.asset.count({ where: { accountId: account.id } })).toBe(0);
    expect(stack.api.lines.filter((line) => line.includes('request failed'))).toEqual([]);
  });
});

describe('upstream_error', () => {
  it('is what a failure behind the service is called, and says nothing of it', async () => {
    const { database } = stack.test;
    await database.execute(Prisma.sql`ALTER TABLE jobs RENAME TO jobs_gone`);
    try {
      const calls = [
        await client.call('GET', '/api/v2/jobs'),
        await client.call('GET', `/api/v2/jobs/${newId()}`),
        await client.call('GET', `/api/v2/jobs/${newId()}/events`),
        await client.call('POST', `/api/v2/jobs/${newId()}/cancel`),
      ];
      for (const answer of calls) {
        expect(answer.status).toBe(500);
        expect(answer.body).toEqual({
          error: { code: 'upstream_error', message: 'The service could not complete this request. Try again.' },
        });
      }
    } finally {
      await database.execute(Prisma.sql`ALTER TABLE jobs_gone RENAME TO jobs`);
    }
  });

  it('is found in the log by the request id, with its cause', async () => {
    const logged = await eventually('the cause to be logged', () =>
      stack.api.lines.find((line) => line.includes('request failed')),
    );
    const record = JSON.parse(logged) as { requestId: string; err: { message: string } };
    expect(record.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(record.err.message).toContain('jobs');
    expect(logged).not.toContain(account.apiKey);
  });
});

describe('X-Request-Id', () => {
  it('is echoed when the client sent a sound one', async () => {
    const answer = await client.call('GET', '/api/v2/jobs', { headers: { 'X-Request-Id': 'trace:42.a_b-c' } });
    expect(answer.headers['x-request-id']).toBe('trace:42.a_b-c');
  });

  it('is sent as X-Comfy-Request-Id too, the only one that the official client for Python reads', async () => {
    const answer = await client.call('GET', '/api/v2/jobs', { headers: { 'X-Request-Id': 'trace:42' } });
    expect(answer.headers['x-comfy-request-id']).toBe('trace:42');
  });

  it.each(['with space', 'a'.repeat(129), '<script>', 'a;b', 'a, b'])(
    'is created when the client sent none that is valid: %#',
    async (id) => {
      const answer = await client.call('GET', '/api/v2/nothing', { headers: { 'X-Request-Id': id } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe('credentials', () => {
  it.each([undefined, '', 'Basic abc', 'Bearer', 'Bearer ', 'Bearer mr_live_nonsense', 'mr_live_nonsense'])(
    'that are missing or not valid are refused with 401 and the way to authenticate: %p',
    async (authorization) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { Authorization: authorization };
      const answer = await new ApiClient(stack.publicUrl, null).call('POST', '/api/v2/jobs', { headers, json: {} });
      expect([answer.status, codeOf(answer)]).toEqual([401, 'unauthorized']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    },
  );
});
