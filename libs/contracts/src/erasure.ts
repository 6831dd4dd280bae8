/** What a request for erasure may be about. */
export const ERASURE_SUBJECTS = ['job', 'label', 'account'] as const;
export type ErasureSubjectKind = (typeof ERASURE_SUBJECTS)[number];

/** What is to be erased: a job, all that carries a label with this value, or an account with all that it has. */
export type ErasureSubject =
  | { readonly kind: 'job'; readonly jobId: string }
  | { readonly kind: 'label'; readonly label: string; readonly value: string }
  | { readonly kind: 'account' };

export const ERASURE_STATES = ['requested', 'running', 'done'] as const;
export type ErasureState = (typeof ERASURE_STATES)[number];
