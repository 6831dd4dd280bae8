import type { Scope } from '../../scripts/lib/command/scope.mjs';
import type { DataFolder } from '../../scripts/lib/services/data-folder.mjs';
import type { Fleet } from '../../scripts/lib/services/fleet.mjs';
import type { RunFile, StackOptions } from '../../scripts/lib/stack/stack.mjs';

export interface BenchFlags {
  pairs: number;
  /** Until Node has compiled what is new to it; a process that serves for days is past that. */
  warmUpSeconds: number;
  /** Everything smaller, to see in minutes whether something is far off. Not a figure to report. */
  quick: boolean;
  url: string | undefined;
}

/** What a bench is given. Everything it starts ends with the command. */
export interface BenchContext {
  scope: Scope;
  /** For its data; removed at the end. */
  folder: DataFolder;
  flags: BenchFlags;
  /** The processes of the stack, and others that a bench starts. */
  fleet: Fleet;
  /** The whole service as real processes, on an embedded PostgreSQL with fsync on and a Redis. Once per bench. */
  startStack: (options?: Partial<StackOptions>) => Promise<RunFile>;
  /** A load generator in a process of its own: a module below `bench/` whose exported functions it calls. */
  startLoad: (file: string) => Promise<Load>;
}

export interface Load {
  /** Call an exported function of the module with one argument; both ways as JSON. */
  call<T>(name: string, input: object): Promise<T>;
}

/** One file `bench/NAME.bench.mjs` exports one as `bench`. */
export interface Bench {
  name: string;
  title: string;
  /** Why it cannot be measured on this machine; undefined when it can. */
  unavailable?(): Promise<string | undefined>;
  run(context: BenchContext): Promise<Finding[]>;
}

/** One pair: ours and what it is compared with, measured one after the other. */
export interface Pair {
  ours: number;
  floor: number;
  /** What the comparison gives: a ratio, or a difference. */
  value: number;
}

export interface Summary {
  median: number;
  lowerQuartile: number;
  upperQuartile: number;
  least: number;
  most: number;
}

export interface Finding {
  /** As in `bench/README.md`, e.g. `P10 added latency`. */
  measure: string;
  /** Of `value`: `ratio`, `ms`, … */
  unit: string;
  /** Of `ours` and `floor`. */
  sideUnit: string;
  isHigherBetter: boolean;
  /** Null where only a goal is set. */
  gate: number | null;
  goal: number;
  value: Summary;
  ours: Summary;
  floor: Summary;
  pairs: Pair[];
}
