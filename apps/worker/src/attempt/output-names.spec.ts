import type { EngineOutput } from '@millrace/engines';
import { OutputNames } from './output-names';

const file = (name: string): EngineOutput => ({ kind: 'file', nodeId: '9', index: 0, name, path: `/out/${name}` });
const text = (nodeId: string): EngineOutput => ({ kind: 'text', nodeId, index: 0, text: 'x' });
const namesOf = (outputs: EngineOutput[]): string[] => {
  const names = new OutputNames((nodeId) => (nodeId === '2' ? 'PreviewAny' : 'A/B'));
  return outputs.map((output) => names.nameOf(output));
};

describe('the name of an output', () => {
  it('of a file is that which the node gave it', () => {
    expect(namesOf([file('grown_00001_.png'), file('größe 大.webp')])).toEqual(['grown_00001_.png', 'größe 大.webp']);
  });

  it('of a text holds class, node and number', () => {
    expect(namesOf([text('2'), text('2'), text('7')])).toEqual([
      'PreviewAny_2_1.txt',
      'PreviewAny_2_2.txt',
      'A_B_7_1.txt',
    ]);
  });

  it('of a text holds all of a class and a node whose names look like paths', () => {
    expect(namesOf([text('n/../x y:é'), text('C:\\x'), text('..')])).toEqual([
      'A_B_n_.._x y_é_1.txt',
      'A_B_C__x_1.txt',
      'A_B_.._1.txt',
    ]);
  });

  it('is unique within the job, in any case', () => {
    expect(namesOf([file('a.png'), file('A.png'), file('a.png'), file('a-2.png')])).toEqual([
      'a.png',
      'A-2.png',
      'a-3.png',
      'a-2-2.png',
    ]);
  });

  it('is found by one look for each, however many are equal', () => {
    const has = jest.spyOn(Set.prototype, 'has');
    const count = 2_000;
    const names = namesOf(Array.from({ length: count }, (_, n) => file(n % 2 === 0 ? 'A.png' : 'a.png')));
    const looks = has.mock.calls.length;
    has.mockRestore();
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(count);
    expect([names[1], names[2], names.at(-1)]).toEqual(['a-2.png', 'A-3.png', `a-${count}.png`]);
    expect(looks).toBeLessThan(3 * count);
  });

  it('skips the numbers that others have', () => {
    expect(namesOf(['a.png', 'a-2.png', 'a-3.png', 'a.png', 'a.png', 'a-2.png', 'ΑΣ.png', 'ασ.png'].map(file))).toEqual(
      ['a.png', 'a-2.png', 'a-3.png', 'a-4.png', 'a-5.png', 'a-2-2.png', 'ΑΣ.png', 'ασ-2.png'],
    );
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\x\\boot.ini', 'boot.ini'],
    ['a"b\r\n|c?.png', 'a_b___c_.png'],
    ['evil\u202egnp.exe', 'evil_gnp.exe'],
    ['a\u0085b\u2028c\u2029d.png', 'a_b_c_d.png'],
    ['..', 'output'],
    ['.', 'output'],
    [`${'n'.repeat(300)}.png`, `${'n'.repeat(200)}.png`],
    [`${'\u{1f600}'.repeat(300)}.png`, `${'\u{1f600}'.repeat(50)}.png`],
    [`a${'\u00e9'.repeat(300)}.png`, `a${'\u00e9'.repeat(99)}.png`],
  ])('leads nowhere and breaks no header: %j', (given, name) => {
    expect(namesOf([file(given)])).toEqual([name]);
  });
});
