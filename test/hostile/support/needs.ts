/**
 * How often an attack of a few seconds must be answered with a status, on a slow machine too, to have arrived: about a twentieth of what
 * an idle one answers. `connections`: those that must have been opened to be held; their first answers count like others.
 */
export type Needs = { [status: number]: number; connections?: number };

/** What an attack lacks to have arrived. @param answers how many had each status; several of one status count together. */
export function missing(
  { connections: wanted = 0, ...statuses }: Needs,
  answers: [status: number, count: number][],
  connections: number,
): string[] {
  const lacking = Object.entries(statuses).flatMap(([status, least]) => {
    const count = answers.reduce((sum, [of, many]) => (of === Number(status) ? sum + many : sum), 0);
    return count < least ? [`${count} answers of ${status}, of ${least} at least`] : [];
  });
  return connections < wanted ? [...lacking, `${connections} connections, of ${wanted} at least`] : lacking;
}
