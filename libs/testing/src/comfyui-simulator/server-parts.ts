import type { NodeClass } from './nodes/node-class';
import type { PromptQueue } from './execution/prompt-queue';
import type { ServerFolders } from './io/server-folders';
import type { ServerLog } from './io/server-log';
import type { Sockets } from './io/sockets';
import type { SimulatedVersion } from './version';

/** What the routes work on: the parts of a server, and what its life depends on. */
export interface ServerParts {
  readonly queue: PromptQueue;
  readonly folders: ServerFolders;
  readonly classes: Readonly<Record<string, NodeClass>>;
  readonly log: ServerLog;
  readonly sockets: Sockets;
  /** Bodies of accepted posts, to the letter. */
  readonly posted: { promptId: string; text: string }[];
  /** Prompt ids of the interrupts asked for; null for the general form. */
  readonly interrupts: (string | null)[];
  readonly jobCancels: string[];
  readonly argv: string[];
  readonly version: SimulatedVersion;
  readonly objectInfo: string;
  nextNumber(): number;
  /** Sends every socket the length of the queue. */
  announce(): void;
  raiseInterrupt(): void;
  freeMemory(): void;
  /** Something that a test may wait for has changed. */
  changed(): void;
}
