import { signInMail } from './mails';

const subjectFor = (account: string): string => signInMail('ada@example.com', account, 'https://api.test/x').subject;

describe('the name of an account in a mail', () => {
  it.each([
    ['Acme Inc.', 'Acme Inc.'],
    ["O'Neill & Söhne, Werk 2", "O'Neill & Söhne  Werk 2"],
    ['pay at evil.example', 'pay at evil example'],
    ['www.evil.example/pay', 'www evil example pay'],
    ['https://evil.example', 'https   evil example'],
    ['a...b', 'a   b'],
    ['mail me@evil.example', 'mail me evil example'],
    ['two\r\nlines', 'two  lines'],
    ['x'.repeat(200), 'x'.repeat(100)],
  ])('%j reads as no link, and adds no line', (name, shown) => {
    expect(subjectFor(name)).toBe(`Sign in to ${shown}`);
    const { text } = signInMail('ada@example.com', name, 'https://api.test/x');
    expect(text).toContain(`"${shown}"`);
    expect(text.match(/https?:/g)).toHaveLength(1);
  });

  it.each([
    ['Hindi', 'हिन्दी स्टूडियो'],
    ['Thai', 'ร้านน้ำชา'],
    ['Tamil', 'தமிழ்ப் பட்டறை'],
    ['Sinhala, which joins letters', 'ශ්\u200dරී ලංකා'],
    ['Persian, which parts letters', 'می\u200cخواهم'],
  ])('of %s stays as it is', (_, name) => {
    expect(subjectFor(name)).toBe(`Sign in to ${name}`);
  });

  it('is shown composed where its marks came apart', () => {
    expect(subjectFor('Söhne'.normalize('NFD'))).toBe('Sign in to Söhne');
  });

  it('has no joiner that joins nothing', () => {
    expect(subjectFor('a\u200d b\u200c.\u200dc')).toBe('Sign in to a  b . c');
  });

  it('is cut between characters, not inside of one', () => {
    const [supplementary, marked] = ['𠮷', 'नि'];
    for (const character of [supplementary, marked]) {
      expect(subjectFor(character.repeat(101))).toBe(`Sign in to ${character.repeat(100)}`);
    }
  });
});
