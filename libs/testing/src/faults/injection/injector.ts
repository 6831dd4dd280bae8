import { setTimeout as pause } from 'node:timers/promises';
import type { History } from '../load';
import type { Random } from '../random';
import { FAULT_KINDS, type FaultKind } from './fault-kinds';
import { FleetFaults } from './fleet-faults';
import { NetworkFaults } from './network-faults';
import { ProcessFaults } from './process-faults';
import { ServerFaults } from './server-faults';
import type { Victims } from './victims';

/** Pauses between two faults of one family, in milliseconds: in five minutes several of each kind, hundreds together. */
const PACE = {
  kill: [500, 2_000],
  freeze: [1_800, 3_200],
  stop: [2_500, 5_000],
  flush: [1_500, 3_500],
  restartRedis: [2_500, 5_000],
  restartPostgres: [8_000, 13_000],
  sicken: [1_500, 4_000],
  // A controller that was killed leads again when its lease of 10 s has ended.
  killFleet: [13_000, 20_000],
  loseNode: [5_000, 9_000],
  lock: [1_500, 3_500],
  network: [300, 1_000],
  receiver: [500, 2_000],
  mail: [1_000, 3_000],
  stallModels: [1_500, 4_000],
  killErasure: [1_500, 5_000],
} as const;

/** Injects faults into a stack until it is stopped, and counts them. */
export class Injector {
  readonly counts = new Map<FaultKind, number>(FAULT_KINDS.map((kind) => [kind, 0]));
  private readonly processes: ProcessFaults;
  private readonly fleet: FleetFaults;
  private readonly servers: ServerFaults;
  private readonly network: NetworkFaults;

  constructor(
    victims: Victims,
    history: History,
    private readonly random: Random,
    private readonly until: AbortSignal,
  ) {
    const harm = {
      victims,
      history,
      random,
      until,
      count: (kind: FaultKind) => void this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1),
      pause: (ms: number) => this.pause(ms),
    };
    this.processes = new ProcessFaults(harm);
    this.fleet = new FleetFaults(harm);
    this.servers = new ServerFaults(harm);
    this.network = new NetworkFaults(harm);
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves when the signal has aborted and everything is as it was. */
  async run(): Promise<void> {
    const { processes, fleet, servers, network } = this;
    await Promise.all([
      this.every('kill', () => processes.kill()),
      this.every('freeze', () => processes.freeze()),
      this.every('stop', () => processes.stop()),
      this.every('sicken', () => processes.sickenEngine()),
      this.every('killErasure', () => processes.killInErasure()),
      this.every('killFleet', () => fleet.killController()),
      this.every('loseNode', () => fleet.loseNode()),
      this.every('flush', () => servers.emptyRedis()),
      this.every('restartRedis', () => servers.restartRedis()),
      this.every('restartPostgres', () => servers.restartPostgres()),
      this.every('lock', () => servers.holdLock()),
      this.every('network', () => network.hit()),
      this.every('receiver', () => network.hitReceiver()),
      this.every('mail', () => network.hitMail()),
      this.every('stallModels', () => network.stallModels()),
    ]);
    await processes.untilThawed();
    network.restore();
  }

  private async every(family: keyof typeof PACE, strike: () => Promise<void> | void): Promise<void> {
    const [least, most] = PACE[family];
    for (;;) {
      await this.pause(this.random.whole(least, most));
      if (this.until.aborted) return;
      await strike();
    }
  }

  private async pause(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (!this.until.aborted && Date.now() < end) await pause(Math.min(50, Math.max(1, end - Date.now())));
  }
}
