import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';

/** The mail of one test file, which its stack writes into a folder. */
export class TestMails {
  private readonly folder = mkdtempSync(join(tmpdir(), 'millrace-mails-'));
  /** Of every process of the stack. */
  readonly settings: Record<string, string> = { MILLRACE_MAIL_FOLDER: this.folder };

  /** Called at the top of a test file. */
  constructor() {
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** What stands behind the `#` of the link in the mail to somebody, once there are so many: as a mail program shows it. */
  async linkTo(address: string, count = 1): Promise<string> {
    return eventually(`mail ${count} to ${address}`, async () => {
      const mails = readdirSync(this.folder)
        .filter((name) => name.endsWith('.eml'))
        .sort()
        .map((name) => readFileSync(join(this.folder, name), 'utf8'))
        .filter((mail) => mail.includes(`To: ${address}`));
      // Quoted-printable folds long lines (RFC 2045, 6.7).
      const text = mails[count - 1]?.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '';
      return /https?:\S+#(\S+)/.exec(text)?.[1] ?? null;
    });
  }
}
