import { stripVTControlCharacters } from 'node:util';
import type { Progress } from '@millrace/contracts';
import { FakeHost } from '../fixtures/fake-host';
import { jobOf, succeeded } from '../fixtures/sample-jobs';
import { progressView } from './show-progress';

function progressOf(value: number, node: string | null, step?: number): Progress {
  const steps = step === undefined ? null : 400;
  return { value, nodes_done: 1, nodes_total: 4, current_node: node, current_node_class: 'ImageBlur', step, steps };
}

describe('progress in a log', () => {
  const host = new FakeHost();
  const view = progressView(host);

  it('is at most a line for every five per cent', () => {
    view.onJob(jobOf({ status: 'running' }));
    for (let at = 0; at <= 1000; at += 1) view.onProgress(progressOf(at / 1000, '7', at));
    const lines = host.noted.trim().split('\n');
    expect(lines[0]).toBe('running');
    expect(lines).toHaveLength(1 + 21);
    expect(lines.at(-1)).toBe('100%  1 of 4 nodes  7  ImageBlur, step 1000 of 400');
  });

  it('holds no escape sequence', () => {
    expect(host.noted).toBe(stripVTControlCharacters(host.noted));
  });

  it('reports the queue when it has halved', () => {
    const waiting = new FakeHost();
    const lines = progressView(waiting);
    for (let position = 8; position > 0; position -= 1) lines.onJob(jobOf({ queue_position: position }));
    expect(waiting.noted.match(/position \d/g)).toEqual(['position 8', 'position 4', 'position 2', 'position 1']);
  });

  it('says once that the service is gone, and once that it is back', () => {
    const quiet = new FakeHost();
    const lines = progressView(quiet);
    for (const connection of ['stream', 'polling', 'unreachable', 'stream'] as const) lines.onConnection(connection);
    expect(quiet.noted.trim().split('\n')).toHaveLength(2);
  });
});

describe('progress on a terminal', () => {
  it('shows finished nodes, the node at work with its steps, and the whole', () => {
    const host = new FakeHost({ columns: 90, env: { NO_COLOR: '1' } });
    const view = progressView(host);
    view.onJob(jobOf({ status: 'running' }));
    view.onProgress(progressOf(0.25, '7'));
    view.onProgress(progressOf(0.5, '8', 200));
    const picture = stripVTControlCharacters(host.noted).trimEnd().split('\n').slice(-3);
    expect(picture[0]).toMatch(/✓ 7 {2}ImageBlur/);
    expect(picture[1]).toMatch(/▸ 8 {2}ImageBlur {2}━{8}─{8} 200\/400/);
    expect(picture[2]).toMatch(/━{16}─{16} {2}50% {2}1 of 4 nodes/);
    view.close();
  });

  it('never goes back when a poll brings an older snapshot', () => {
    const host = new FakeHost({ columns: 90, env: { NO_COLOR: '1' } });
    const view = progressView(host);
    view.onJob(jobOf({ status: 'running' }));
    view.onProgress(progressOf(0.5, '8'));
    view.onJob(jobOf({ status: 'running', progress: progressOf(0.25, '7') }));
    expect(stripVTControlCharacters(host.noted)).not.toContain('25%');
    view.close();
  });

  it('leaves nothing behind but its notes, and the cursor as it was', () => {
    const host = new FakeHost({ columns: 90 });
    const view = progressView(host);
    view.note('kept');
    view.onJob(jobOf({ status: 'running', progress: progressOf(0.25, '7') }));
    view.onJob(succeeded());
    expect(host.noted.startsWith('kept\n')).toBe(true);
    expect(host.noted.endsWith('\u001b[2A\r\u001b[J\u001b[?25h')).toBe(true);
  });

  it('keeps names of others from moving the cursor', () => {
    const host = new FakeHost({ columns: 90 });
    const view = progressView(host);
    view.onJob(jobOf({ status: 'running' }));
    view.onProgress({ ...progressOf(0.5, '7'), current_node_class: 'Evil\u001b[2J\u001b[1;1H' });
    expect(host.noted).not.toContain('\u001b[2J');
    view.close();
  });
});
