import type { ComfyuiSocket } from '../protocol';

/**
 * What a socket is known to have brought of one run. There is no replay, so that all that is sent while it is opened again is gone.
 * ComfyUI sends in the order in which a run says something, pictures included: one connection from the post to `executing null`
 * has brought all of it.
 */
export class SocketRecord {
  /** Of the socket's losses when the run was posted; null where it was away then. */
  private lossesBefore: number | null = null;
  private ended = false;

  constructor(private readonly socket: Pick<ComfyuiSocket, 'isOpen' | 'lossCount'>) {}

  /** The run is about to be posted: from here on it is spoken of. */
  onPost(): void {
    this.lossesBefore = this.socket.isOpen ? this.socket.lossCount : null;
  }

  /** `executing null` of the run came. What becomes of the socket from here on takes nothing from the run. */
  onEnd(): void {
    this.ended = !this.isBroken;
  }

  /** Something of the run was missed, or may have been. */
  get isBroken(): boolean {
    return !this.ended && this.socket.lossCount !== this.lossesBefore;
  }

  /** Everything that the run said has come. */
  get isWhole(): boolean {
    return this.ended;
  }
}
