import { unstorableFields } from './storable-texts';

const fieldsOf = (document: unknown): string[] => unstorableFields(document).map(({ field }) => field);

describe('the texts of a document', () => {
  it.each([
    [{ a: 'b', c: ['d', { e: 'é \u{1f600} \n' }], f: 1, g: null, h: true, at: new Date(0) }],
    [{ workflow: { 1: { inputs: { text: '\0' } } }, warm_up: { '\0': '\ud800' } }],
    [{ cursor: '\0' }],
    ['text'],
    [null],
  ])('can be stored: %j', (document) => {
    expect(fieldsOf(document)).toEqual([]);
  });

  it.each([
    [{ a: '\0' }, ['a']],
    [{ a: 'x\ud800y', b: ['z', '\udfff'] }, ['a', 'b.1']],
    [{ a: { b: { c: '\0' } }, d: '\0' }, ['d', 'a.b.c']],
    [{ '\0': 1 }, ['\0']],
    [{ a: { workflow: '\0' } }, ['a.workflow']],
  ])('cannot: %j', (document, fields) => {
    expect(fieldsOf(document)).toEqual(fields);
  });

  it('are looked at however deep they are', () => {
    const deep = JSON.parse(`${'['.repeat(30_000)}"\\u0000"${']'.repeat(30_000)}`) as unknown;
    expect(fieldsOf(deep)).toHaveLength(1);
  });
});
