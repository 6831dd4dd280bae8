import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { type Host, Interrupted } from '../process';

/** Asks for one line on the terminal. A secret is not echoed. */
export function ask(host: Host, question: string, secrecy: 'shown' | 'secret'): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const isSecret = secrecy === 'secret';
  const lines = createInterface({ input: host.stdin, output: isSecret ? silent : host.stderr, terminal: true });
  if (isSecret) host.stderr.write(question);
  return new Promise((resolve, reject) => {
    lines.on('SIGINT', () => reject(new Interrupted('Interrupted.')));
    lines.on('close', () => reject(new Interrupted('Nothing was entered.')));
    lines.question(isSecret ? '' : question, (answer) => resolve(answer.trim()));
  }).finally(() => {
    lines.close();
    if (isSecret) host.stderr.write('\n');
  }) as Promise<string>;
}

/** The first line of standard input. */
export async function firstLine(host: Host): Promise<string> {
  let text = '';
  for await (const chunk of host.stdin) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.split('\n')[0]?.trim() ?? '';
}
