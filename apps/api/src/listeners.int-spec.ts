import { connect } from 'node:net';
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
});
