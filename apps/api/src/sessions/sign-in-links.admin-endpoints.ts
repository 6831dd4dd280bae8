import { defineEndpoint, recordId } from '../endpoints';
import { SignInLinkCreateSchema, SignInLinkSchema } from './session.schemas';

export const createSignInLink = defineEndpoint({
  id: 'createSignInLink',
  method: 'post',
  path: '/admin/v1/accounts/{id}/sign-in-links',
  params: { id: recordId('account') },
  tag: 'accounts',
  access: { by: 'operator', role: 'operator', reason: true },
  summary: 'Create a sign-in link',
  description: 'Signs a browser in to the console of the account, once, within 15 minutes. Only this answer shows it.',
  body: SignInLinkCreateSchema,
  answers: { 201: { description: 'The link.', schema: SignInLinkSchema } },
  uncached: true,
});
