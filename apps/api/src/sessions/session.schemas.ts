import { z } from 'zod';
import { MEMBER_ROLES, SCOPES, TimestampSchema } from '@millrace/contracts';

/** Longer than any key, token or link is. */
const CREDENTIAL_CHARACTERS = 4_096;
const credential = z.string().trim().min(1).max(CREDENTIAL_CHARACTERS).optional();

const link = credential.meta({ description: 'What stands behind `#link=` in a sign-in link. It counts once.' });
const invitation = credential.meta({
  description: 'What stands behind `#invitation=` in an invitation: makes you a member of its account. It counts once.',
});

export const SignInSchema = z
  .object({
    api_key: credential.meta({
      description: 'An API key of the account; on a self-hosted surface its one token, and nothing where it has none.',
    }),
    link,
    invitation,
  })
  .refine((sent) => Object.values(sent).filter((value) => value !== undefined).length <= 1, {
    path: ['link'],
    error: 'must be sent alone: only one of api_key, link and invitation',
  })
  .meta({ id: 'SignIn', description: 'What is exchanged for a session.' });

export const SignInLookSchema = z
  .object({ link, invitation })
  .refine((sent) => (sent.link === undefined) !== (sent.invitation === undefined), {
    path: ['link'],
    error: 'exactly one of link and invitation must be sent',
  })
  .meta({ id: 'SignInLook', description: 'A link or an invitation.' });

export const SignInOfferSchema = z
  .object({
    account: z.object({ id: z.uuid(), name: z.string() }),
    member: z
      .object({ email: z.string(), role: z.enum(MEMBER_ROLES) })
      .nullable()
      .meta({
        description: 'As which member, or which one you become; null for a link that acts as a key of the account.',
      }),
    asked_here: z.boolean().meta({ description: 'Whether this browser asked for it: a link by mail.' }),
  })
  .meta({ id: 'SignInOffer', description: 'What a link or an invitation signs in to.' });

export const SessionSchema = z
  .object({
    id: z.uuid(),
    account: z.object({ id: z.uuid(), name: z.string() }),
    member: z
      .object({ id: z.uuid(), email: z.string(), role: z.enum(MEMBER_ROLES) })
      .nullable()
      .meta({ description: 'The member who is signed in; null for who signed in with a key of the account.' }),
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

export const ListedSessionSchema = z
  .object({
    id: z.uuid(),
    created_at: TimestampSchema,
    expires_at: TimestampSchema,
    member: z
      .object({ id: z.uuid(), email: z.string() })
      .nullable()
      .meta({ description: 'Whose it is; null for who signed in with a key of the account.' }),
    key: z.object({ id: z.uuid(), name: z.string() }).nullable().meta({
      description: 'The key with which it was opened; null for a member who came by an invitation or a link by mail.',
    }),
    current: z.boolean().meta({ description: 'Whether it is the session that asks.' }),
  })
  .meta({ id: 'ListedSession', description: 'A browser that is signed in.' });

export const SessionListSchema = z
  .object({ sessions: z.array(ListedSessionSchema) })
  .meta({ id: 'SessionList', description: 'Browsers that are signed in.' });
