import type { ComfyuiSocket, ServerMessage } from '../protocol';

/**
 * What a socket is known to have brought of one run. There is no replay, so that all that is sent while it is opened again is gone.
 * ComfyUI sends in the order in which a run says something, pictures included: one connection from the post to `executing null`
 * has brought all of it.
 */
export class SocketRecord {
  /** Of the socket's losses when the run was posted; null where it was away then. */
  private lossesBefore: number | null = null;
  /** Of its losses when it last brought something of the run. */
  private lossesSeen: number | null = null;
  /** Of its losses when it brought `executing null`. */
  private lossesAtEnd: number | null = null;
  private hadGap = false;
  /** The node that began last; without an id where an expansion added it. */
  private current: { nodeId: string | null; sinceMs: number } | null = null;

  /** @param quickMs nodes that are blocked are done in less */
  constructor(
    private readonly socket: Pick<ComfyuiSocket, 'isOpen' | 'lossCount'>,
    private readonly quickMs: number,
  ) {}

  /** The run is about to be posted: from here on it is spoken of. */
  onPost(): void {
    this.lossesBefore = this.socket.isOpen ? this.socket.lossCount : null;
    this.lossesSeen = this.lossesBefore;
  }

  /**
   * A message that names the run, or the one that names the node of it that runs to a socket that was opened again.
   *
   * @param nodeId the submitted node that an `executing` is about
   */
  onMessage(message: ServerMessage, nodeId: string | null, nowMs = performance.now()): void {
    const { lossCount } = this.socket;
    if (lossCount !== this.lossesSeen && !this.isNext(message, nodeId, nowMs)) this.hadGap = true;
    this.lossesSeen = lossCount;
    if (message.type !== 'executing' || message.promptId === null) return;
    if (message.node === null) this.lossesAtEnd = lossCount;
    // All that an expansion added is displayed as the node that was expanded, which is what a socket that was opened again gets.
    else this.current = { nodeId: message.node === nodeId ? nodeId : null, sinceMs: nowMs };
  }

  /** A picture may have been missed, which only one connection from the post to the end excludes. */
  get isBroken(): boolean {
    return (this.lossesAtEnd ?? this.socket.lossCount) !== this.lossesBefore;
  }

  /** A message that a node was blocked may have been missed. What becomes of the socket after the end takes nothing from the run. */
  get hasGap(): boolean {
    return this.hadGap || (this.lossesAtEnd === null && this.socket.lossCount !== this.lossesSeen);
  }

  /** `executing null` of the run came: nothing more will. */
  get hasEnded(): boolean {
    return this.lossesAtEnd !== null;
  }

  /**
   * Nothing about another node was sent since the last message: none had begun before, or the one that runs is the one that ran. That one was
   * not blocked either, which would have ended it at once.
   */
  private isNext(message: ServerMessage, nodeId: string | null, nowMs: number): boolean {
    const { current } = this;
    if (current === null) return message.type === 'execution_start' || message.type === 'execution_cached';
    if (current.nodeId === null || current.nodeId !== nodeId) return false;
    const isRunning = message.type === 'executing' && message.promptId === null;
    return isRunning && nowMs - current.sinceMs >= this.quickMs;
  }
}
