import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@millrace/testing';
import { RunningApi } from './fixtures/running-api';

/** Of the loopback network, and not the address on which listeners open by default. */
const OTHER_ADDRESS = '127.0.0.2';

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.on('connect', () => end(true)).on('error', () => end(false));
  });
}

async function openAt(host: string, env: Record<string, string>): Promise<{ public: boolean; ops: boolean }> {
  const api = await RunningApi.open(env);
  try {
    const { port, opsPort } = api.listeners;
    return { public: await isOpen(host, port), ops: await isOpen(host, opsPort) };
  } finally {
    await api.close();
  }
}

describe('the listeners', () => {
  it('bind to loopback by default', async () => {
    expect(await openAt('127.0.0.1', {})).toEqual({ public: true, ops: true });
    expect(await openAt(OTHER_ADDRESS, {})).toEqual({ public: false, ops: false });
  });

  it('bind to what MILLRACE_HOST and MILLRACE_OPS_HOST say, each to its own', async () => {
    expect(await openAt(OTHER_ADDRESS, { MILLRACE_HOST: '0.0.0.0' })).toEqual({ public: true, ops: false });
    expect(await openAt(OTHER_ADDRESS, { MILLRACE_OPS_HOST: '0.0.0.0' })).toEqual({ public: false, ops: true });
  });

  it('answer CONNECT, and leave nothing open of a client that does not end its connection', async () => {
    const api = await RunningApi.open();
    const client = connect({ host: '127.0.0.1', port: api.listeners.port, allowHalfOpen: true });
    try {
      let received = '';
      client.on('error', () => undefined).on('data', (chunk: Buffer) => (received += chunk.toString()));
      client.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
      await once(client, 'end');
      expect(received).toMatch(/^HTTP\/1\.1 405 .*method_not_allowed/s);
      // What is sent to a connection that is gone is answered with its end.
      await eventually('the connection is gone', () => {
        client.write('a');
        return client.destroyed;
      });
    } finally {
      client.destroy();
      await api.close();
    }
  });
});
