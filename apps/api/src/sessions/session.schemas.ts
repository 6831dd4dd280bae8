import { z } from 'zod';
import { SCOPES, TimestampSchema } from '@millrace/contracts';

/** Longer than any key, token or link is. */
const CREDENTIAL_CHARACTERS = 4_096;
const credential = z.string().trim().min(1).max(CREDENTIAL_CHARACTERS).optional();

export const SignInSchema = z
  .object({
    api_key: credential.meta({
      description: 'An API key of the account; on a self-hosted surface its one token, and nothing where it has none.',
    }),
    link: credential.meta({ description: 'What stands behind `#link=` in a sign-in link. It counts once.' }),
  })
  .refine(({ api_key: key, link }) => key === undefined || link === undefined, {
    path: ['link'],
    error: 'must not be sent together with api_key',
  })
  .meta({ id: 'SignIn', description: 'What is exchanged for a session.' });

export const SessionSchema = z
  .object({
    account: z.object({ id: z.uuid(), name: z.string() }),
    key: z
      .object({
        id: z.uuid().nullable().meta({ description: 'Null on a self-hosted surface, which has no keys.' }),
        name: z.string(),
        scopes: z.array(z.enum(SCOPES)),
      })
      .meta({ description: 'As which the session acts.' }),
    expires_at: TimestampSchema.meta({ description: 'When the session ends, or its key before it.' }),
  })
  .meta({ id: 'Session', description: 'Who is signed in to the console.' });

export const SignInLinkCreateSchema = z
  .object({
    api_key_id: z
      .uuid()
      .optional()
      .meta({
        description:
          'The key as which the session acts. Absent: a new key with all scopes, called Console, that nobody sees and that ends ' +
          'with the session; none on the account of a self-hosted surface.',
      }),
  })
  .meta({ id: 'SignInLinkCreate', description: 'A new sign-in link.' });

export const SignInLinkSchema = z
  .object({
    url: z
      .url()
      .meta({ description: 'The console, and behind `#` what signs in. It counts once, and is shown now only.' }),
    expires_at: TimestampSchema,
  })
  .meta({ id: 'SignInLink', description: 'A link that signs a browser in to the console, once.' });
