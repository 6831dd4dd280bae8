import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport, type Transporter } from 'nodemailer';
import type { DueMail, MailSender } from './mail';
import { messageIdOf } from './smtp-sender';

/** Writes mail into a folder, a file `<id>.eml` each, for who tries things out without a mail server. */
export class FolderSender implements MailSender {
  private readonly transport: Transporter;

  constructor(
    private readonly folder: string,
    private readonly from: string,
  ) {
    this.transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  }

  async send({ id, to, subject, text }: DueMail): Promise<void> {
    const mail = { from: this.from, to, subject, text, messageId: messageIdOf(id, this.from) };
    const { message } = (await this.transport.sendMail(mail)) as { message: Buffer };
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, `${id}.eml`);
    // Who watches the folder sees whole mails alone.
    await writeFile(`${path}.part`, message, { mode: 0o600 });
    await rename(`${path}.part`, path);
  }

  close(): void {
    this.transport.close();
  }
}
