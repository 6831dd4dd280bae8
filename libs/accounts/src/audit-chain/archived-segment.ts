import type { Statements } from '@millrace/database';
import { openContent } from './format/sealed-content';
import { readSegmentFile } from './format/segment-file';
import type { ArchivePlace } from './archive-faults';
import { objectStem } from './format/segment';
import type { SegmentStore } from './segment.store';

/** Objects of one number that are looked for. */
const NAMES = 10;

/**
 * The entries of a segment as the archive has them, as lines of JSON, with what they say where their salt is still in the log: what was
 * struck out, or is past its retention, nobody can read any more. A number that has several objects gives the lines of all.
 *
 * @throws when the archive has none, or does not answer.
 */
export async function* archivedLines(
  database: Statements,
  segments: Pick<SegmentStore, 'salts'>,
  { archive, prefix }: ArchivePlace,
  no: bigint,
): AsyncGenerator<string> {
  const names = await archive.list(objectStem(prefix, no), NAMES);
  if (names.length === 0) throw new Error(`The bucket has no segment ${no}.`);
  for (const name of names) {
    const filed = readSegmentFile((await archive.read(name)) ?? Buffer.alloc(0));
    if (filed === null) throw new Error(`The object ${name} is none of a segment.`);
    const ids = filed.entries.map(({ facts }) => facts.id);
    const salts = await segments.salts(database, ids);
    for (const { facts, content } of filed.entries) {
      const salt = salts.get(facts.id);
      const said = salt === undefined || content === null ? null : openContent(salt, facts.id, content);
      yield JSON.stringify({
        object: name,
        id: facts.id,
        at: facts.at,
        actor: facts.actor,
        action: facts.action,
        subject_type: facts.subjectType,
        subject_id: facts.subjectId,
        account_id: facts.accountId,
        address: facts.operatorAddress ?? said?.address ?? null,
        reason: said?.reason ?? null,
        details: said === null ? null : (JSON.parse(said.details) as unknown),
        readable: said !== null,
      });
    }
  }
}
