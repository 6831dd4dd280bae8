import type { Harm } from './victims';

/** Faults of what runs the workers of deployments. */
export class FleetFaults {
  constructor(private readonly harm: Harm) {}

  /** Its workers end with it. */
  killController(): void {
    if (this.harm.victims.fleet.kill('SIGKILL')) this.harm.count('fleet controller dies');
  }

  /** All workers of the deployment and their engines end at once; sometimes the controller does, too, while it starts others. */
  async loseNode(): Promise<void> {
    const { victims, random } = this.harm;
    if (victims.deploymentWorkers.disappear() === 0) return;
    this.harm.count('node disappears');
    if (!random.chance(0.2)) return;
    await this.harm.pause(random.whole(200, 2_500));
    this.killController();
  }
}
