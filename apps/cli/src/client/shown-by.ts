const ADMIN = /\/admin\/v1\//;
const OPERATION = /\/(?:api\/v2|platform\/v1)\/(.*)$/;

/** The command that shows whether a write was done, by what its path begins with; `$1` is the id in it. */
const SHOWN_BY: readonly (readonly [RegExp, string])[] = [
  [/^jobs\/([^/]+)\//, 'jobs get $1'],
  [/^batches\/([^/]+)\//, 'batch show $1'],
  [/^(?:assets|uploads)(?:\/|$)/, 'assets ls'],
  [/^api-keys(?:\/|$)/, 'keys ls'],
  [/^account\/access$/, 'keys rules'],
  [/^account\/submission-defaults$/, 'defaults'],
  [/^invitations(?:\/|$)/, 'members invitations'],
  [/^members\//, 'members ls'],
  [/^label-rules(?:\/|$)/, 'labels ls'],
  [/^spend\/caps(?:\/|$)/, 'spend'],
  [/^credits\/alert$/, 'credits alert'],
  [/^export-destination$/, 'exports destination'],
  [/^export-destination\/test$/, 'exports deliveries'],
  [/^exports\/[^/]+\/deliver$/, 'exports deliveries'],
  [/^deployments\/([^/]+)\/(?:versions|rollback)(?:\/|$)/, 'deployments versions $1'],
  [/^deployments(?:\/|$)/, 'deployments ls'],
  [/^erasures$/, 'privacy erasures'],
  [/^webhook-endpoints\/([^/]+)\/(?:test|replay|messages\/.*)$/, 'webhooks deliveries $1'],
  [/^webhook-endpoints(?:\/|$)/, 'webhooks ls'],
  [/^(?:models|model-imports)(?:\/|$)/, 'models ls'],
];

/** The command that shows whether a write to this address was done; null where none does. What operators do is in the audit log. */
export function shownBy({ pathname }: URL): string | null {
  if (ADMIN.test(pathname)) return 'millrace admin audit-log';
  const [, path = ''] = OPERATION.exec(pathname) ?? [];
  for (const [begin, command] of SHOWN_BY) {
    const found = begin.exec(path);
    if (found) return `millrace ${command.replace('$1', () => found[1] ?? '')}`;
  }
  return null;
}
