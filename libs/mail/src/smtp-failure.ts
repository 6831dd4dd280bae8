/** What nodemailer says of a command that failed. Message, response and recipients of it name whom the mail is to. */
export interface SmtpFailure {
  code?: string;
  /** Of a socket or of TLS, such as `ECONNREFUSED`. */
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

/** Of the sender's address, or of what we may do (RFC 3463, 3.2 and 3.8). Many servers say it when they are asked for the recipient. */
const OF_OUR_SETTINGS = /^5\d\d[ -]5\.(?:1\.[78]|7\.\d+)\b/;
/** The enhanced status code after the code of a response (RFC 3463, 2). */
const ENHANCED = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/;

/**
 * A 5xx to the recipient or to the message is final (RFC 5321, 4.2.1). One to our credentials, to the sender's address, or to what we
 * may send is that of a setting, which may be put right.
 */
export function isFinal({ code, command, response = '', responseCode = 0 }: SmtpFailure): boolean {
  if (responseCode < 500) return false;
  if (code === 'EMESSAGE') return true;
  return code === 'EENVELOPE' && command === 'RCPT TO' && !OF_OUR_SETTINGS.test(response);
}

/** What may be logged of a failure: which command failed with which codes. Servers repeat the recipient's address in what else they say. */
export function sentenceOf({ code, originalCode, command, response = '', responseCode }: SmtpFailure): string {
  const answered = [responseCode, ENHANCED.exec(response)?.[1]].filter(Boolean).join(' ');
  const parts = [command, answered, code, originalCode].filter(Boolean);
  return `the mail server did not take a mail: ${parts.length === 0 ? 'no code was given' : parts.join(', ')}`;
}
