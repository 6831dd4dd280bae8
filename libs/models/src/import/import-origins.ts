import type { AddressGuard } from '@millrace/platform';

/** Where models may be imported from: hosts that the operator names, at addresses that the guard admits. */
export class ImportOrigins {
  /** @param hosts in lower case; `*.example.com` stands for all hosts below. */
  constructor(
    private readonly hosts: readonly string[],
    readonly guard: AddressGuard,
  ) {}

  /** What is wrong with the URL of a source, as the rest of a sentence; null: nothing that can be seen without asking DNS. */
  faultOf(text: string): string | null {
    if (this.hosts.length === 0) return 'cannot be imported: the operator of this service has named no hosts for that';
    const fault = this.guard.faultOf(text);
    if (fault !== null) return fault;
    const { hostname, hash } = new URL(text);
    if (hash !== '') return 'must not have a fragment';
    return this.isNamed(hostname) ? null : `is at ${hostname}, which is none of the hosts that the operator allows`;
  }

  private isNamed(host: string): boolean {
    return this.hosts.some((named) => (named.startsWith('*.') ? host.endsWith(named.slice(1)) : host === named));
  }
}
