import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { messagesOf } from './express-messages';

it('requests and answers keep the prototype that they are made with, and are those of Express and of Node', async () => {
  const app = express();
  app.get('/:name', (request, response) => {
    const isNode = request instanceof IncomingMessage && response instanceof ServerResponse;
    response.json({ isNode, name: request.params.name, host: request.get('host') !== undefined });
  });
  const server = createServer(messagesOf(app), app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const changes: boolean[] = [];
  const { setPrototypeOf } = Object;
  const change = jest
    .spyOn(Object, 'setPrototypeOf')
    .mockImplementation((object: unknown, prototype: object | null) => {
      if (object instanceof IncomingMessage || object instanceof ServerResponse)
        changes.push(Object.getPrototypeOf(object) !== prototype);
      return setPrototypeOf(object, prototype) as unknown;
    });
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/name`);
    expect(await answer.json()).toEqual({ isNode: true, name: 'name', host: true });
    expect(changes).toEqual([false, false]);
  } finally {
    change.mockRestore();
    server.closeAllConnections();
    server.close();
  }
});
