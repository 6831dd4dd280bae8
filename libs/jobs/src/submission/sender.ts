/** Who sent a request, for work that waits for a turn before it begins. */
export interface Sender {
  /** Called when the turn has come. @throws Refusal `invalid_request` once nobody waits for the answer any more. */
  begin(): Promise<void>;
}
