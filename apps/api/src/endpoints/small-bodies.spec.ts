import { z } from 'zod';
import { AdminModule } from '../admin.module';
import { PublicModule } from '../public.module';
import { endpointsOfModule } from './served-endpoints';

/** As many as fit a small body. */
const ITEMS = Array<number>(30_000).fill(0);
/** Of an answer; each is built before anything else can be done. */
const MOST_FAULTS = 300;

const bodies = [PublicModule, AdminModule]
  .flatMap(endpointsOfModule)
  .flatMap(({ id, body }) => (body instanceof z.ZodObject ? [{ id, body }] : []));

describe('the body of an endpoint', () => {
  it.each(bodies)('of $id has few faults, with any lists in it', ({ body }) => {
    const fields = Object.fromEntries(Object.keys(body.shape).map((field) => [field, ITEMS]));
    expect(body.safeParse(fields).error?.issues.length).toBeLessThan(MOST_FAULTS);
    expect(body.safeParse(ITEMS).error?.issues.length).toBeLessThan(MOST_FAULTS);
  });
});
