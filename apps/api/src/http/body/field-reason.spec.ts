import { Refusal } from '@millrace/contracts';
import { z } from 'zod';
import { parseFields } from './body';

const shape = z.strictObject({
  name: z.string().min(1).max(5),
  count: z.int().min(2).max(9),
  share: z.number().positive().multipleOf(0.5),
  on: z.boolean(),
  list: z.array(z.uuid()).min(2),
  kind: z.enum(['a', 'b']),
  one: z.literal('x'),
  code: z.string().regex(/^a+$/),
  at: z.iso.datetime({ offset: true }),
  map: z.record(z.string().max(1), z.string()),
  either: z.union([z.string(), z.number()]),
  own: z.string().regex(/^b$/, 'must be b'),
});

/** The reasons by field. */
function faultsOf(value: unknown, schema: z.ZodType = shape): Record<string, string> {
  try {
    parseFields(schema, value, 422);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const fields = error.details?.fields as { field: string; reason: string }[];
    return Object.fromEntries(fields.map(({ field, reason }) => [field, reason]));
  }
  return {};
}

describe('why a field is refused', () => {
  it('is said of each that is missing', () => {
    expect(faultsOf({})).toEqual({
      ...Object.fromEntries(Object.keys(shape.shape).map((field) => [field, 'is required'])),
      kind: 'is required: one of a, b',
      one: 'is required: x',
    });
  });

  it('is said of each of another type', () => {
    const wrong = { name: 1, count: '2', share: null, on: 'yes', list: {}, kind: 1, one: 2, code: [], at: 1, map: 'm' };
    expect(faultsOf({ ...wrong, either: null, own: 1 })).toEqual({
      name: 'must be a text',
      count: 'must be a number',
      share: 'must be a number',
      on: 'must be true or false',
      list: 'must be a list',
      kind: 'must be one of a, b',
      one: 'must be x',
      code: 'must be a text',
      at: 'must be a text',
      map: 'must be an object',
      either: 'has none of the forms that are taken',
      own: 'must be a text',
    });
  });

  it('is said of each that does not fit', () => {
    const list = ['x'];
    const wrong = { name: '', count: 1.5, share: 0.7, on: true, list, kind: 'c', one: 'y', code: 'b', at: 'now' };
    expect(faultsOf({ ...wrong, map: { long: 'x' }, either: 1, own: 'c', other: 1 })).toEqual({
      name: 'must not be empty',
      count: 'must be a whole number',
      share: 'must be a multiple of 0.5',
      list: 'must have at least 2 items',
      'list.0': 'must be a UUID',
      kind: 'must be one of a, b',
      one: 'must be x',
      code: 'must match /^a+$/',
      at: 'must be a time with a zone, e.g. 2030-01-31T12:00:00Z',
      'map.long': 'has a key of a form that is not taken',
      own: 'must be b',
      '': 'the body does not take other',
    });
    expect(faultsOf({ name: 'abcdef', count: 10, share: 0 })).toMatchObject({
      name: 'must have at most 5 characters',
      count: 'must be at most 9',
      share: 'must be more than 0',
    });
  });

  it('is said of the whole', () => {
    expect(faultsOf([])).toEqual({ '': 'the body must be an object' });
    expect(faultsOf('x', z.array(z.string()))).toEqual({ '': 'the body must be a list' });
  });
});
