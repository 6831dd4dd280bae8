import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { readCapture, type Capture, type CaptureName } from '../../fixtures/read-captures';
import { ComfyuiSimulator } from '@millrace/testing';
import { readFrame } from './protocol/frames';

/** Recordings of runs that the simulator can do by itself. */
const REPEATABLE = [
  'success',
  'fail',
  'blocked_msg',
  'blocked_silent',
  'async',
  'expand',
  'expand_fail',
  'expand_preview',
  'preview',
  'text',
  'ksampler',
] as const satisfies CaptureName[];

describe('the simulator sends what ComfyUI was recorded to send', () => {
  let simulator: ComfyuiSimulator;

  beforeEach(async () => {
    simulator = await ComfyuiSimulator.start({ picturesSteps: false });
  });

  afterEach(() => simulator.stop());

  it.each(REPEATABLE)('%s', async (name) => {
    const capture = readCapture(name);
    expect(await record(simulator, capture)).toEqual(recorded(capture));
  });

  it('cached: the same graph again', async () => {
    await record(simulator, readCapture('success'));
    const capture = readCapture('cached');
    expect(await record(simulator, capture)).toEqual(recorded(capture));
  });

  it.each(['interrupted', 'interrupted_in_blocking_node'] as const)('%s', async (name) => {
    const capture = readCapture(name);
    const step = name === 'interrupted' ? 3 : 1;
    const hold = simulator.server.holds.hold({ nodeId: '3', step });
    const run = record(simulator, capture);
    const { promptId } = await hold.reached;
    await fetch(`${simulator.url}/interrupt`, { method: 'POST', body: JSON.stringify({ prompt_id: promptId }) });
    hold.release();
    expect(await run).toEqual(recorded(capture));
  });
});

/** Posts a capture's graph, and takes down what comes over a socket until the end. */
async function record(simulator: ComfyuiSimulator, capture: Capture): Promise<string[]> {
  const clientId = randomUUID();
  const socket = new WebSocket(`${simulator.url.replace('http', 'ws')}/ws?clientId=${clientId}`);
  const lines: string[] = [];
  const ended = new Promise<void>((resolve) =>
    socket.on('message', (data: Buffer, isBinary) => {
      lines.push(...(isBinary ? frameLine(data) : textLine(data.toString())));
      if (lines.at(-1) === 'executing {"node":null}') resolve();
    }),
  );
  await new Promise((resolve) => socket.once('message', resolve));
  socket.send('{"type":"feature_flags","data":{"supports_preview_metadata":true}}');
  const body = JSON.stringify({ prompt: capture.prompt, client_id: clientId, prompt_id: randomUUID() });
  const answer = await fetch(`${simulator.url}/prompt`, { method: 'POST', body });
  expect(answer.status).toBe(200);
  await ended;
  socket.terminate();
  return lines;
}

function recorded({ lines }: Capture): string[] {
  return lines.flatMap((line) => (line.kind === 'text' ? textLine(line.text) : frameLine(line.frame)));
}

/** What of a message is the same in every run: not ids of prompts, times, file counters, or Python's own words. */
function textLine(text: string): string[] {
  const { type, data } = JSON.parse(text) as { type: string; data: Record<string, unknown> };
  if (type === 'logs' || type === 'feature_flags' || data['sid']) return [];
  const { timestamp: _time, prompt_id: _prompt, traceback, current_inputs: _in, current_outputs: _out, ...rest } = data;
  const shown = { ...rest, ...(Array.isArray(traceback) ? { traceback: traceback.length > 0 } : {}) };
  return [`${type} ${JSON.stringify(sorted(shown)).replace(/"[^"]*?(?:temp_\w+_)?\d{5}_\.png"/g, '"file.png"')}`];
}

function sorted(value: unknown, key = ''): unknown {
  if (Array.isArray(value))
    return key === 'executed' ? [...(value as unknown[])].sort() : value.map((item) => sorted(item));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'prompt_id');
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member, name)]),
  );
}

function frameLine(data: Buffer): string[] {
  const frame = readFrame(data);
  if (frame.kind === 'picture') return [`picture ${frame.nodeId} ${frame.displayNodeId} ${frame.contentType}`];
  return [JSON.stringify(frame)];
}
