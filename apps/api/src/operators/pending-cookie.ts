import type { Request, Response } from 'express';
import { z } from 'zod';
import { sessionCookieOf } from '../endpoints';
import type { PendingSignIn } from './identity-provider';

const COOKIE = { name: 'millrace_operator_sign_in', path: '/admin/v1/sign-in' };
const SECONDS = 600;
/** The provider sends the browser back from another site: a stricter cookie would not come with it. */
const ATTRIBUTES = `HttpOnly; SameSite=Lax; Path=${COOKIE.path}`;

const text = z.string().min(20).max(200);
const PendingSchema = z.object({ verifier: text, state: text, nonce: text });

/** Keep in the browser what it must bring back with the provider's answer. */
export function keepPending(request: Request, response: Response, pending: PendingSignIn): void {
  const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
  response.append('Set-Cookie', `${COOKIE.name}=${value}; ${ATTRIBUTES}; Max-Age=${SECONDS}${secure(request)}`);
}

/** It counts once. */
export function clearPending(request: Request, response: Response): void {
  response.append('Set-Cookie', `${COOKIE.name}=; ${ATTRIBUTES}; Max-Age=0${secure(request)}`);
}

/** Null where there is none, or something else. */
export function pendingOf(request: Request): PendingSignIn | null {
  const value = sessionCookieOf(request, COOKIE);
  if (value === null) return null;
  try {
    return PendingSchema.parse(JSON.parse(Buffer.from(value, 'base64url').toString()));
  } catch {
    return null;
  }
}

function secure({ secure: overTls }: Request): string {
  return overTls ? '; Secure' : '';
}
