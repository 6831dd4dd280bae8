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
});
