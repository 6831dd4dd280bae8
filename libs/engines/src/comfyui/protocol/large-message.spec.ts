import { readLargeMessage } from './large-message';

const MIB = 1024 * 1024;
const read = (type: string, data: unknown): ReturnType<typeof readLargeMessage> =>
  readLargeMessage(Buffer.from(JSON.stringify({ type, data })));

describe('a message that is too large to be parsed', () => {
  const ERROR = { prompt_id: 'p', node_id: '7', node_type: 'Some', exception_type: 'ValueError' };
  const UNPARSED = { a: ['}', { b: '\\"],' }], c: 'x'.repeat(2 * MIB), d: [[], {}, -1.5e3] };

  it('says which node reported, and not what', () => {
    expect(read('executed', { node: '3', display_node: '1', output: UNPARSED, prompt_id: 'p' })).toEqual({
      type: 'executed',
      promptId: 'p',
      node: '3',
      displayNode: '1',
      output: null,
    });
  });

  it('says what a node raised, without the inputs that made it large', () => {
    const said = { exception_message: 'it is "wrong"\nü', traceback: ['a\n', 'b\n'] };
    expect(read('execution_error', { current_inputs: UNPARSED, ...ERROR, ...said, current_outputs: ['1'] })).toEqual({
      type: 'execution_error',
      promptId: 'p',
      error: {
        nodeId: '7',
        nodeType: 'Some',
        exceptionType: 'ValueError',
        message: 'it is "wrong"\nü',
        traceback: ['a\n', 'b\n'],
      },
    });
  });

  it.each(['ü', '\\', '"', '\n', 'x'])('says both ends of an error that is itself too large, all of %j', (filling) => {
    const message = read('execution_error', {
      ...ERROR,
      exception_message: `The beginning, ${filling.repeat(2 * MIB)}, the end.`,
      traceback: ['x'.repeat(2 * MIB)],
    });
    if (message.type !== 'execution_error') throw new Error('That is no error of a node.');
    expect(message.error.message).toMatch(/^The beginning, [^]*\n…\n[^]*, the end\.$/);
    expect(message.error.message).toContain(filling.repeat(1_000));
    expect(message.error).toMatchObject({ nodeId: '7', traceback: [] });
  });

  it('is named where it is of the log', () => {
    const text = '\n[2 MiB of output, which is more than is taken, left out]\n';
    expect(read('logs', { entries: [{ m: 'x'.repeat(2 * MIB) }] })).toEqual({ type: 'logs', text });
  });

  it('may have its type last, as nothing says otherwise', () => {
    const message = Buffer.from(`{"data":{"output":{"a":"}"},"node":"3","prompt_id":"p"} , "type" : "executed"}`);
    expect(readLargeMessage(message)).toMatchObject({ type: 'executed', promptId: 'p', node: '3' });
  });

  it.each([
    '',
    '[]',
    '{',
    '{"type"',
    '{"type":"executed","data"',
    '{"type":"executed"}',
    '{"type":"status","data":{}}',
    '{"type":["logs"',
    'x'.repeat(1_000),
  ])('is none where it is no message: %s', (text) =>
    expect(readLargeMessage(Buffer.from(text))).toEqual({ type: 'other' }),
  );

  it('ends where the text does', () => {
    const message = Buffer.from('{"type":"executed","data":{"node":"3","output":["\\"');
    expect(readLargeMessage(message)).toMatchObject({ type: 'executed', node: '3', promptId: null });
  });
});
