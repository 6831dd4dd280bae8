import type { ServerMessage } from '../protocol';
import { SocketRecord } from './socket-record';

const QUICK_MS = 100;
const begins = (node: string | null): ServerMessage => ({ type: 'executing', promptId: 'p', node, displayNode: node });
/** What a socket gets that is opened while a prompt of its own runs. */
const runs = (node: string): ServerMessage => ({ type: 'executing', promptId: null, node, displayNode: null });
const CACHED: ServerMessage = { type: 'execution_cached', promptId: 'p', nodes: [] };

describe('the record of what a socket has brought of a run', () => {
  let socket: { isOpen: boolean; lossCount: number };
  let record: SocketRecord;

  beforeEach(() => {
    socket = { isOpen: true, lossCount: 3 };
    record = new SocketRecord(socket, QUICK_MS);
    record.onPost();
  });

  const states = (): unknown => [record.isBroken, record.hasGap, record.hasEnded];

  it('has all of it where one connection brought it from the post to the end', () => {
    record.onMessage(CACHED, null);
    record.onMessage(begins('1'), '1');
    expect(states()).toEqual([false, false, false]);
    record.onMessage(begins(null), null);
    socket.lossCount += 1;
    expect(states()).toEqual([false, false, true]);
  });

  it('has a gap from the loss on', () => {
    socket.lossCount += 1;
    expect(states()).toEqual([true, true, false]);
    record.onMessage(begins(null), null);
    expect(states()).toEqual([true, true, true]);
  });

  it('has no gap where the node that runs is the one that ran, and is not over at once', () => {
    record.onMessage(begins('1'), '1', 0);
    socket.lossCount += 1;
    record.onMessage(runs('1'), '1', QUICK_MS);
    record.onMessage(begins(null), null);
    expect(states()).toEqual([true, false, true]);
  });

  it.each([
    ['another node runs', runs('2'), '2', QUICK_MS],
    ['the node may just have been blocked', runs('1'), '1', QUICK_MS - 1],
    ['the next that comes says that another node begins', begins('2'), '2', QUICK_MS],
    ['the next that comes says that the node begins again', begins('1'), '1', QUICK_MS],
  ])('has a gap where %s', (_case, message, nodeId, nowMs) => {
    record.onMessage(begins('1'), '1', 0);
    socket.lossCount += 1;
    record.onMessage(message, nodeId, nowMs);
    expect(record.hasGap).toBe(true);
  });

  it('has a gap where a node runs that an expansion added: what such nodes are displayed as is the same', () => {
    record.onMessage({ type: 'executing', promptId: 'p', node: '1.0.0.1', displayNode: '1' }, '1', 0);
    socket.lossCount += 1;
    record.onMessage(runs('1'), '1', QUICK_MS);
    expect(record.hasGap).toBe(true);
  });

  it('has no gap where the socket was lost before a node began', () => {
    socket.lossCount += 1;
    record.onMessage(CACHED, null);
    expect(states()).toEqual([true, false, false]);
  });

  it('takes a socket that was away as the run was posted for one that was lost', () => {
    socket.isOpen = false;
    record.onPost();
    expect(states()).toEqual([true, true, false]);
    record.onMessage(begins('1'), '1');
    expect(record.hasGap).toBe(true);
  });
});
