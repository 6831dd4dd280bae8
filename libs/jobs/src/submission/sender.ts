/** Who sent a request, for work that waits for a turn, or takes long, before anything is recorded. */
export interface Sender {
  /**
   * Called when the turn has come.
   *
   * @throws Refusal `invalid_request` once nobody waits for the answer any more; as `confirm` does.
   */
  begin(): Promise<void>;
  /** Called right before something is recorded. @throws Refusal `unauthorized`, `forbidden` once the sender has lost access. */
  confirm(): Promise<void>;
}
