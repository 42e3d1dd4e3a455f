import { migrations } from '../../src/migrate.ts'
import { query } from './postgres-target.ts'

/** The schema's name in a golden file, in whose place a test puts its own. */
export const goldenSchema = '"golden"'

/** The SQL that makes a schema again as it is: its tables by the release's own statements, then its rows. */
export async function dumpSchema(schema: string): Promise<string> {
  const [version] = await query(`select * from "${schema}".version`)
  const lines = [
    `create schema ${goldenSchema};`,
    `create table ${goldenSchema}.version (singular boolean primary key default true check (singular),` +
      ' application text not null, version int not null);',
    ...migrations.map((migration) => migration(goldenSchema)),
  ]
  if (version?.['version'] !== migrations.length) throw new Error('The schema has another version.')
  const tables = await query(
    `select tablename as name from pg_tables where schemaname = '${schema}' order by 1`,
  )
  for (const { name } of tables) {
    const table = `${goldenSchema}."${String(name)}"`
    const rows = await query(
      `select format('%L', row_to_json(t)::text) as row from "${schema}"."${String(name)}" t order by t`,
    )
    for (const { row } of rows) {
      lines.push(
        `insert into ${table} select * from json_populate_record(null::${table}, ${String(row)});`,
      )
    }
  }
  lines.push(`select setval('${goldenSchema}.row_key', 1000);`)
  return `${lines.join('\n')}\n`
}
