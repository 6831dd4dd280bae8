import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { Refusal } from '@millrace/contracts';
import { BodiesInFlight, createSequentialServer } from '@millrace/platform';
import { contextMiddleware, contextOf } from './request-context';

const ID = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

let server: Server;
beforeAll(async () => {
  const app = express();
  const rules = { shared: 'cloud', open: false, publicUrl: undefined, deploymentDomain: 'dep.localhost' } as const;
  app.use(contextMiddleware(rules, new BodiesInFlight({ bytes: 1, bytesPerPayer: 1 })));
  app.use((asked: Request, answer: Response) => void answer.end(contextOf(asked).surface.kind));
  app.use((error: unknown, _asked: Request, answer: Response, next: NextFunction) => {
    if (error instanceof Refusal) answer.status(error.status).end(error.code);
    else next(error);
  });
  server = createSequentialServer({}, app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

async function ask(host: string, path: string, method = 'GET', headers = {}): Promise<[IncomingMessage, string]> {
  const { port } = server.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1', method, path, agent: false, headers: { host, ...headers } }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return [answer, (await answer.setEncoding('utf8').toArray()).join('')];
}

describe('a request to a host below the domain of deployments', () => {
  it.each([
    ['/api/v2/jobs', 'GET'],
    ['/api/v2/jobs', 'POST'],
    [`/deployment/${ID}/api/v2/jobs`, 'POST'],
    ['http://x.dep.localhost/api/v2/jobs', 'POST'],
    ['/console/', 'GET'],
  ])('that is none is answered 404, never by the cloud: %s %s', async (path, method) => {
    for (const host of ['x.dep.localhost', `a.${ID}.dep.localhost:80`]) {
      const [{ statusCode }, body] = await ask(host, path, method);
      expect([statusCode, body]).toEqual([404, 'not_found']);
    }
  });

  it('that is one is its own, and the domain itself is that of the service', async () => {
    expect((await ask(`${ID}.dep.localhost`, '/'))[1]).toBe('deployment');
    expect((await ask('dep.localhost', '/'))[1]).toBe('cloud');
  });
});

describe('the id of a request', () => {
  it('is in the two headers that clients read, also of a refusal', async () => {
    for (const host of ['localhost', 'x.dep.localhost']) {
      const [{ headers }] = await ask(host, '/', 'GET', { 'x-request-id': 'mine-1' });
      expect([headers['x-request-id'], headers['x-comfy-request-id']]).toEqual(['mine-1', 'mine-1']);
    }
  });
});

describe('an expectation', () => {
  it.each([
    ['miracles', 417, 'invalid_request'],
    ['100-continue', 200, 'cloud'],
  ])('of %s is answered %i', async (expected, status, body) => {
    const [answer, answered] = await ask('localhost', '/', 'POST', { expect: expected });
    expect([answer.statusCode, answered]).toEqual([status, body]);
  });
});
