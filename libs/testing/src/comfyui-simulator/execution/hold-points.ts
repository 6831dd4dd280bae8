/** A place in a run: step 0 is right after `executing`. */
export interface RunPoint {
  promptId: string;
  nodeId: string;
  classType: string;
  step: number;
}

/** A run that waits at a place. */
export interface Hold {
  /** Resolves when a run has come there. */
  reached: Promise<RunPoint>;
  /** Lets it go on, and all that come later. */
  release(): void;
}

/** Lets tests stop runs where they want instead of hoping that time does. */
export class HoldPoints {
  private isClosed = false;
  private readonly holds = new Set<{
    matches: (point: RunPoint) => boolean;
    pass: (point: RunPoint) => Promise<void>;
  }>();

  hold(where: Partial<RunPoint>): Hold {
    let arrive: (point: RunPoint) => void = () => undefined;
    let open: () => void = () => undefined;
    const reached = new Promise<RunPoint>((resolve) => (arrive = resolve));
    const opened = new Promise<void>((resolve) => (open = resolve));
    const hold = {
      matches: (point: RunPoint) =>
        Object.entries(where).every(([key, value]) => point[key as keyof RunPoint] === value),
      pass: (point: RunPoint) => {
        arrive(point);
        return opened;
      },
    };
    this.holds.add(hold);
    const release = (): void => {
      this.holds.delete(hold);
      open();
    };
    return { reached, release };
  }

  async pass(point: RunPoint): Promise<void> {
    for (const hold of this.holds) if (hold.matches(point)) await hold.pass(point);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isClosed) await new Promise(() => undefined);
  }

  /** No run goes on from where it is. */
  close(): void {
    this.isClosed = true;
  }
}
