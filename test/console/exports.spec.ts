import { QueryClient } from '@tanstack/react-query';
import { exportDeliveriesQuery } from '../../apps/console/src/api/exports';

afterEach(() => jest.restoreAllMocks());

/** An API of so many deliveries, one a minute before 2026-11-20, in pages. @returns the addresses that were asked. */
function answerWith(count: number): string[] {
  const asked: string[] = [];
  const deliveries = Array.from({ length: count }, (_, at) => ({
    id: String(at),
    created_at: new Date(Date.UTC(2026, 10, 20) - at * 60_000).toISOString(),
  }));
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const path = typeof input === 'string' ? input : '';
    asked.push(path);
    const search = new URL(path, 'http://console.test').searchParams;
    const [from, limit] = [Number(search.get('cursor') ?? 0), Number(search.get('limit'))];
    const next = from + limit < count ? { next_cursor: String(from + limit) } : {};
    return Response.json({ deliveries: deliveries.slice(from, from + limit), ...next });
  });
  return asked;
}

const read = (day: string | undefined): Promise<{ id: string }[]> =>
  new QueryClient().fetchQuery(exportDeliveriesQuery(day));

describe('the deliveries of the days that are shown', () => {
  it('are read to the first of these days, however many tests are among them', async () => {
    answerWith(2_000);
    const found = await read('2026-11-19');
    expect(found.length).toBeGreaterThanOrEqual(24 * 60);
    expect(found.length).toBeLessThan(2_000);
  });

  it('end with the last page', async () => {
    const asked = answerWith(150);
    expect(await read('2026-01-01')).toHaveLength(150);
    expect(asked).toHaveLength(2);
  });

  it('are the latest where no day is shown', async () => {
    const asked = answerWith(150);
    expect(await read(undefined)).toHaveLength(100);
    expect(asked).toHaveLength(1);
  });
});
