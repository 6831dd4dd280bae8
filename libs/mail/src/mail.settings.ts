import { z } from 'zod';
import { SettingsError, secretSetting, setting } from '@millrace/platform';

/** `name@host`, or `Name <name@host>`; no line can be added to a header by it. */
const FROM = /^(?:[^<>\r\n"]{0,80}<[^\s<>@]{1,64}@[^\s<>@]{1,190}>|[^\s<>@]{1,64}@[^\s<>@]{1,190})$/;

/** How mail to people is sent. By one of the first two, or not at all. */
export const mailSettings = {
  mailSmtpUrl: secretSetting(
    'MAIL_SMTP_URL',
    'Mail server that takes mail to people: smtps://user:password@mail.example.com, or smtp:// with STARTTLS, which only a server on loopback may lack. It needs MILLRACE_PUBLIC_URL, to which links in mail lead. Unset: MILLRACE_MAIL_FOLDER, or no mail.',
    z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
  ),
  mailFolder: setting(
    'MAIL_FOLDER',
    'Folder into which mail to people is written instead, a file .eml each: for trying things out.',
    z.string().min(1).optional(),
  ),
  mailFrom: setting(
    'MAIL_FROM',
    'From whom mail comes, e.g. Millrace <no-reply@example.com>. Your mail server must let this service send as that.',
    z.string().regex(FROM, 'must be name@host, or Name <name@host>').default('Millrace <millrace@localhost>'),
  ),
};

export interface MailSettings {
  mailSmtpUrl?: string | undefined;
  mailFolder?: string | undefined;
  mailFrom: string;
}

/** Where mail goes; null where none is sent. @throws SettingsError where two places are set. */
export function mailPlaceOf({
  mailSmtpUrl: smtpUrl,
  mailFolder: folder,
}: MailSettings): { smtpUrl: string } | { folder: string } | null {
  if (smtpUrl !== undefined && folder !== undefined) {
    throw new SettingsError(['MILLRACE_MAIL_SMTP_URL and MILLRACE_MAIL_FOLDER are both set; unset one.']);
  }
  if (smtpUrl !== undefined) return { smtpUrl };
  return folder === undefined ? null : { folder };
}
