import { randomUUID } from 'node:crypto';
import { createLogger } from '@millrace/platform';
import { testRedisUrl } from '@millrace/testing';
import { LivePublisher } from './live-events';
import { RedisConnections } from './redis';

const connections = new RedisConnections(testRedisUrl(), createLogger('test', 'silent'));
const redis = connections.producer();
const live = new LivePublisher(redis);
beforeAll(() => new Promise((resolve) => redis.once('ready', resolve)));
afterAll(() => connections.close());

/** Fewer than are kept: other tests may show some, too. */
const OTHERS_ASIDE = 200;

const progress = { value: 0.5, nodes_done: 0, nodes_total: 1 };
const preview = { node_id: '1', content_type: 'image/jpeg', data_base64: 'AAAA' } as const;

/** Jobs that have published their progress and a preview, in this order. */
async function shownBy(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) {
    await live.publish(id, { kind: 'progress', attempt: 1, progress });
    await live.publish(id, { kind: 'preview', attempt: 1, preview });
  }
  return ids;
}

const hasPreview = async (id: string): Promise<boolean> => (await live.snapshot(id)).preview !== null;

it('of many jobs the latest previews are kept, and the progress of all', async () => {
  const ids = await shownBy(300);
  const kept: string[] = [];
  for (const id of ids) if (await hasPreview(id)) kept.push(id);
  expect(kept.length).toBeLessThanOrEqual(256);
  expect(kept.length).toBeGreaterThan(OTHERS_ASIDE);
  expect(kept[0]).toBe(ids.at(-kept.length));
  expect((await live.progress(ids)).filter((one) => one !== null)).toHaveLength(300);
  // What is shown again is young again.
  const [first = ''] = kept;
  await live.publish(first, { kind: 'preview', attempt: 1, preview });
  await shownBy(OTHERS_ASIDE);
  expect(await hasPreview(first)).toBe(true);
});

it('a job that has ended takes no place of others', async () => {
  const [running = ''] = await shownBy(1);
  for (const id of await shownBy(OTHERS_ASIDE)) await live.publishEnd(id, { kind: 'status', seq: 3 });
  expect(await hasPreview(running)).toBe(true);
  for (const id of await shownBy(OTHERS_ASIDE)) await live.forget(id);
  expect(await hasPreview(running)).toBe(true);
});
