import { collectGarbage } from '@millrace/testing';
import { readMessage, type Message } from './message';

const callOf = (args: string): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_job","arguments":${args}}}`);

describe('a message', () => {
  it('has the text of its graph as it came, which nothing else reads', () => {
    const message = readMessage(callOf('{"workflow": {"1": {"seed": 18446744073709551615}} , "wait_seconds":0}'));
    expect(message.graphText).toBe('{"1": {"seed": 18446744073709551615}}');
    expect(message.value).toMatchObject({ params: { arguments: { workflow: {}, wait_seconds: 0 } } });
  });

  it('has that of the last, where there are two', () => {
    const message = readMessage(callOf('{"workflow":{"1":1},"workflow":{"2":2}}'));
    expect([message.graphText, message.value]).toMatchObject(['{"2":2}', { params: { arguments: { workflow: {} } } }]);
  });

  it('keeps no more than its text, for as long as its call waits', async () => {
    const bytes = callOf(`{"workflow":{"1":[${new Array<number>(90_000).fill(0).join(',')}]}}`);
    await collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const kept: Message[] = Array.from({ length: 20 }, () => readMessage(bytes));
    await collectGarbage();
    const eachBytes = (process.memoryUsage().heapUsed - before) / kept.length;
    expect(eachBytes).toBeLessThan(4 * bytes.length);
  });
});
