import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { SharedSlots } from '@millrace/messaging';
import { BodiesInFlight, Metrics } from '@millrace/platform';
import { withContext } from '../fixtures/with-context';
import { OpenStreams } from './open-streams';
import { Streams, type StreamEvent } from './streams';

const HOLDER = { accountId: 'a', limit: null, apiKeyId: null, deploymentId: null, scope: 'jobs:read' } as const;

/** Streams of one process that limits alone, because Redis is away. */
function streamsOf(maxStreamsPerAccount: number): [Streams, OpenStreams] {
  const away = (): Promise<never> => Promise.reject(new Error('Redis is away'));
  const places = { take: away, release: away } as unknown as SharedSlots;
  const open = new OpenStreams(new Metrics('api'), { maxStreamsPerAccount }, places);
  return [new Streams(open), open];
}

/** A server whose one stream sends what `follow` makes. */
async function serve(
  streams: Streams,
  follow: (signal: AbortSignal) => AsyncGenerator<StreamEvent, void, void>,
  bodies = new BodiesInFlight({ bytes: 500_000, bytesPerPayer: 250_000 }),
): Promise<{ server: Server; open: () => Promise<IncomingMessage>; failures: unknown[] }> {
  const app = express();
  const failures: unknown[] = [];
  app.get('/', (request, response) => {
    withContext(request, { bodies });
    streams
      .serve(response, HOLDER, follow, (event) => event)
      .catch((error: unknown) => {
        failures.push(error);
        response.status(429).end();
      });
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<IncomingMessage> => {
    const request = get({ port, host: '127.0.0.1', agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };
  return { server, open, failures };
}

const LARGE = 'x'.repeat(100_000);

describe('a reader that stops reading', () => {
  it('is waited for: no more is made than its connection holds, however much there is to send', async () => {
    const [streams, opened] = streamsOf(10);
    let made = 0;
    const { server, open } = await serve(streams, async function* (signal) {
      while (!signal.aborted) {
        made += 1;
        yield await Promise.resolve({ event: 'preview', data: { nth: made, LARGE } });
      }
    });
    const response = await open();
    response.pause();
    // Two equal readings, with time between them for the sockets to take more. No event says that they take no more.
    const settled = async (): Promise<number> => {
      for (let seen = -1; seen !== made; await new Promise((resolve) => setTimeout(resolve, 150))) seen = made;
      return made;
    };
    const held = await settled();
    // What the two sockets of the kernel hold is some megabytes; beyond them there is one event.
    expect(held * LARGE.length).toBeLessThan(16_000_000);
    response.destroy();
    await opened.allEnded();
    server.close();
  });
});

describe('a large status', () => {
  it('counts with the bodies in memory while its stream is open; beyond the limit of its account none begins', async () => {
    const [streams, opened] = streamsOf(10);
    const { server, open, failures } = await serve(streams, async function* (signal) {
      yield await Promise.resolve({ event: 'status', data: { LARGE } });
      // It has grown, by less than is counted again.
      yield { event: 'status', data: { LARGE, more: 'x' } };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const [first, second] = [await open(), await open()];
    const third = await open();
    expect([first, second, third].map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
    expect(failures).toEqual([expect.objectContaining({ code: 'rate_limited' })]);
    first.destroy();
    await once(first, 'close');
    let again = await open();
    while (again.statusCode !== 200) again = await open();
    for (const response of [second, again]) response.destroy();
    await opened.allEnded();
    server.close();
  });
});

describe('a large status, while others have all memory that there is', () => {
  it('is sent, and does not end its stream when it grows', async () => {
    const [streams, opened] = streamsOf(10);
    const bodies = new BodiesInFlight({ bytes: 500_000, bytesPerPayer: 250_000 });
    bodies.hold('another', 500_000);
    bodies.polls.hold('another', 500_000);
    const follow = async function* (): AsyncGenerator<StreamEvent, void, void> {
      yield await Promise.resolve({ event: 'status', data: {} });
      // The account has another stream meanwhile.
      bodies.polls.hold('a', 1);
      yield { event: 'status', data: { LARGE } };
      yield { event: 'status', data: { LARGE, more: LARGE } };
    };
    const { server, open, failures } = await serve(streams, follow, bodies);
    const { length } = await text(await open());
    expect(failures).toEqual([]);
    expect(length).toBeGreaterThan(3 * LARGE.length);
    await opened.allEnded();
    server.close();
  });
});

describe('an event whose text has line breaks beyond those of the format', () => {
  it('is one line of data for a client that splits as Python does, and says the same', async () => {
    const [streams, opened] = streamsOf(2);
    const message = 'a\u0085b\u2028c\u2029d\u000be\u000cf\u001cg\u001dh\u001ei\r\nj';
    const { server, open } = await serve(streams, async function* () {
      yield await Promise.resolve({ event: 'progress', data: { message } });
    });
    const body = await text(await open());
    // What str.splitlines of Python splits on; httpx, and with it the official client, reads its lines so.
    const lines = body.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
    expect(lines).toEqual(['event: progress', expect.stringMatching(/^data: /), '', '']);
    expect(JSON.parse(lines[1]?.slice('data: '.length) ?? '')).toEqual({ message });
    await opened.allEnded();
    server.close();
  });
});

describe('a stream on which nothing happens', () => {
  it('carries a comment at least every 15 s, and nothing else, for as long as it is open', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const [streams, opened] = streamsOf(2);
    const { server, open } = await serve(streams, async function* (signal) {
      yield { event: 'status', data: {} };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    try {
      const stream = (await open()).setEncoding('utf8');
      const next = (): Promise<string> => once(stream, 'data').then(([piece]) => piece as string);
      expect(await next()).toBe('event: status\ndata: {}\n\n');
      for (let nth = 0; nth < 3; nth += 1) {
        const comment = next();
        jest.advanceTimersByTime(15_000);
        expect(await comment).toBe(': alive\n\n');
      }
      stream.destroy();
      await opened.allEnded();
      jest.advanceTimersByTime(15_000);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
      server.close();
    }
  });
});

describe('the streams of a process', () => {
  it('are counted per account, and a place is free again when a client has gone', async () => {
    const [streams, opened] = streamsOf(2);
    const { server, open, failures } = await serve(streams, async function* (signal) {
      yield { event: 'status', data: {} };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const [first, second] = await Promise.all([open(), open()]);
    expect((await open()).statusCode).toBe(429);
    expect(failures).toMatchObject([{ code: 'too_many_streams', retryAfterSeconds: 5 }]);
    first.destroy();
    second.destroy();
    await opened.allEnded();
    const third = await open();
    expect(third.statusCode).toBe(200);
    third.destroy();
    await opened.allEnded();
    server.close();
  });

  it('do not keep a place for a client that went away before its stream began', async () => {
    const [streams, opened] = streamsOf(2);
    const app = express();
    const served = new Promise<void>((resolve, reject) => {
      app.get('/', (request, response) => {
        withContext(request);
        response.once('close', () => {
          const follow = async function* (): AsyncGenerator<StreamEvent, void, void> {
            for (;;) yield await Promise.resolve({ event: 'status', data: {} });
          };
          streams.serve(response, HOLDER, follow, (event) => event).then(resolve, reject);
        });
      });
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
    request.on('error', () => undefined);
    await once(server, 'request');
    request.destroy();
    await served;
    await opened.allEnded();
    server.close();
  });

  it('end their subscription when an event cannot be sent', async () => {
    const [streams, opened] = streamsOf(2);
    let released = false;
    const follow = async function* (): AsyncGenerator<number, void, void> {
      try {
        for (let nth = 0; ; nth += 1) yield await Promise.resolve(nth);
      } finally {
        released = true;
      }
    };
    const app = express();
    const served = new Promise((resolve) => {
      app.get('/', (request, response) => {
        withContext(request);
        const present = (nth: number): StreamEvent => {
          if (nth === 1) throw new Error('it has no words');
          return { event: 'status', data: { nth } };
        };
        streams.serve(response, HOLDER, follow, present).then(resolve, (error: unknown) => {
          response.destroy();
          resolve(error);
        });
      });
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }).on('error', () => undefined);
    expect(await served).toMatchObject({ message: 'it has no words' });
    expect(released).toBe(true);
    await opened.allEnded();
    server.close();
  });

  it('are ended when the process must go', async () => {
    const [streams, opened] = streamsOf(2);
    const { server, open } = await serve(streams, async function* (signal) {
      yield { event: 'status', data: {} };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const response = await open();
    response.resume();
    const ended = once(response, 'end');
    opened.endAll();
    await ended;
    await opened.allEnded();
    server.close();
  });
});

describe('an answer that takes as long as its client reads', () => {
  /** Sends without an end until its client goes. */
  async function serving(opened: OpenStreams): Promise<{ ask: () => Promise<IncomingMessage>; server: Server }> {
    const app = express();
    app.get('/', (_request, response) => {
      const gone = once(response, 'close');
      opened
        .sending(response, HOLDER, async () => {
          response.flushHeaders();
          await gone;
        })
        .catch(() => response.status(429).end());
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const ask = async (): Promise<IncomingMessage> => {
      const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response.on('error', () => undefined);
    };
    return { ask, server };
  }

  it('holds a place of its account, which is free again once its client has gone', async () => {
    const [, opened] = streamsOf(1);
    const { ask, server } = await serving(opened);
    const first = await ask();
    expect([first.statusCode, (await ask()).statusCode]).toEqual([200, 429]);
    first.destroy();
    await opened.allEnded();
    const next = await ask();
    expect(next.statusCode).toBe(200);
    next.destroy();
    await opened.allEnded();
    server.close();
  });

  it('breaks off when the access of its holder ends', async () => {
    const [, opened] = streamsOf(1);
    const { ask, server } = await serving(opened);
    const response = await ask();
    // It is cut off, which is an error of its reader, too.
    const closed = new Promise((resolve) => response.once('close', resolve));
    opened.endAll();
    await closed;
    expect(response.complete).toBe(false);
    await opened.allEnded();
    server.close();
  });
});
