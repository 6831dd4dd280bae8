import { createHash, timingSafeEqual } from 'node:crypto';

/** Compare credentials in a time that depends on neither. */
export function equalTexts(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
