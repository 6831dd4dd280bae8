import { z } from 'zod';
import { EMAIL, defineEndpoint } from '../endpoints';

export const sendSignInMail = defineEndpoint({
  id: 'sendSignInMail',
  method: 'post',
  path: '/platform/v1/sessions/mails',
  tag: 'sessions',
  access: { by: 'nothing' },
  summary: 'Ask for a link that signs in',
  description:
    'A member of this address gets a mail with a link for each of their accounts; it counts once, for 15 minutes, in the browser that asked. ' +
    'The answer is the same where there is no such member.',
  body: z
    .object({ email: EMAIL.meta({ description: 'The address of a member.' }) })
    .meta({ id: 'SignInMail', description: 'Who wants to sign in.' }),
  example: { email: 'ada@example.com' },
  answers: {
    202: {
      description: 'If there is such a member, a mail is on its way.',
      headers: {
        'Set-Cookie': {
          description: 'The cookie `millrace_sign_in`, without which the link is worth nothing.',
          required: true,
          schema: { type: 'string' },
        },
      },
    },
  },
  uncached: true,
  errors: ['forbidden'],
});
