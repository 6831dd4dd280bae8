import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { openContent, sealContent } from './sealed-content';

const content = fc.record({
  details: fc.json(),
  reason: fc.option(fc.string({ unit: 'binary' }), { nil: null }),
  address: fc.option(fc.ipV6(), { nil: null }),
});

it('what an entry says is read with its salt, and the same entry is the same bytes', () => {
  fc.assert(
    fc.property(content, (said) => {
      const salt = randomBytes(32);
      const sealed = sealContent(salt, 'entry', said);
      expect(openContent(salt, 'entry', sealed)).toEqual(said);
      expect(sealContent(salt, 'entry', said)).toBe(sealed);
    }),
  );
});

it('without the salt, as another entry, or cut or changed, it is not', () => {
  const salt = randomBytes(32);
  const said = { details: '{"value": "ada"}', reason: null, address: '192.0.2.7' };
  const sealed = sealContent(salt, 'entry', said);
  const bytes = Buffer.from(sealed, 'base64');
  expect(bytes.includes('ada')).toBe(false);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  expect(openContent(randomBytes(32), 'entry', sealed)).toBeNull();
  expect(openContent(salt, 'another', sealed)).toBeNull();
  expect(openContent(salt, 'entry', bytes.toString('base64'))).toBeNull();
  expect(openContent(salt, 'entry', sealed.slice(0, 8))).toBeNull();
});
