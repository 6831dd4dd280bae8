import express, { type Express } from 'express';
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { targetOf } from './request-target';
import type { RequestTarget } from './surface';

/** An application that says what it was sent to, behind so many proxies that are trusted. */
function appBehind(proxies: number): Express {
  const app = express();
  app.set('trust proxy', proxies);
  app.use((request, response) => void response.json(targetOf(request)));
  return app;
}

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => void server.close()));

async function sent(proxies: number, path: string, headers: Record<string, string>): Promise<RequestTarget> {
  const server = createServer(appBehind(proxies)).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const request = send({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      void text(response).then((body) => resolve(JSON.parse(body) as RequestTarget), reject);
    });
    request.on('error', reject).end();
  });
}

const forwarded = {
  Host: 'inner:8080',
  'X-Forwarded-Host': 'outer.example.com, proxy.example.com',
  'X-Forwarded-Proto': 'https, http',
};

describe('what a request was sent to', () => {
  it('is its Host, path and query', async () => {
    expect(await sent(0, '/a%20b?c=d', { Host: 'here:81' })).toEqual({
      scheme: 'http',
      host: 'here:81',
      url: '/a%20b?c=d',
    });
  });

  it('is not what X-Forwarded-* say when no proxy is trusted', async () => {
    expect(await sent(0, '/', forwarded)).toEqual({ scheme: 'http', host: 'inner:8080', url: '/' });
  });

  it('is what the client sent to the first proxy when proxies are trusted', async () => {
    expect(await sent(1, '/', forwarded)).toEqual({ scheme: 'https', host: 'outer.example.com', url: '/' });
  });

  it('is its absolute target where it has one, and not its Host', async () => {
    expect(await sent(0, 'http://there:82/x?y', { Host: 'here' })).toEqual({
      scheme: 'http',
      host: 'there:82',
      url: '/x?y',
    });
    expect((await sent(0, 'http://there?y', { Host: 'here' })).url).toBe('/?y');
  });
});
