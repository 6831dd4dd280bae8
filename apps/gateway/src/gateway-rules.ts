/** What holds for every worker of this gateway. */
export class GatewayRules {
  constructor(
    readonly of: {
      leaseSeconds: number;
      maxOutputsPerJob: number;
      logTailBytes: number;
      workersPerToken: number;
    },
  ) {}
}
