import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { engineClassOf, type EngineClass, type EngineClassSpec } from './engine-class';

interface ClassRow {
  spec: EngineClassSpec;
  retiredAt: Date | null;
}

/** The SQL of engine classes. */
export class EngineClassStore {
  /**
   * Make the catalogue what the operator's document says, in one statement. Classes that are not in it are retired; one that is back
   * is offered again.
   */
  async reconcile(tx: Statements, specs: readonly EngineClassSpec[]): Promise<void> {
    const rows = specs.map((spec) => ({ name: spec.name, spec, revision: engineClassOf(spec).revision }));
    await tx.execute(Prisma.sql`
      WITH given AS (
        SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS g(name text, spec jsonb, revision text)
      ), written AS (
        INSERT INTO engine_classes (name, spec, revision) SELECT name, spec, revision FROM given
        ON CONFLICT (name) DO UPDATE SET spec = excluded.spec, revision = excluded.revision, retired_at = NULL, updated_at = now()
        WHERE (engine_classes.spec, engine_classes.retired_at IS NULL) IS DISTINCT FROM (excluded.spec, true)
      )
      UPDATE engine_classes SET retired_at = now(), updated_at = now()
      WHERE retired_at IS NULL AND name NOT IN (SELECT name FROM given)`);
  }

  /** Every class, those that are retired too, by name. */
  async list(tx: Statements): Promise<EngineClass[]> {
    const rows = await tx.rows<ClassRow>(Prisma.sql`SELECT spec, retired_at FROM engine_classes ORDER BY name`);
    return rows.map(({ spec, retiredAt }) => engineClassOf(spec, retiredAt));
  }

  async find(tx: Statements, name: string): Promise<EngineClass | null> {
    const [row] = await tx.rows<ClassRow>(Prisma.sql`SELECT spec, retired_at FROM engine_classes WHERE name = ${name}`);
    return row === undefined ? null : engineClassOf(row.spec, row.retiredAt);
  }
}
