import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';

/** Places -> everything that is kept there, as text. */
export type Dump = Map<string, string>;

/** Every column of every row of every table; bytes as the text that they are. */
export async function dumpDatabase(databaseUrl: string): Promise<Dump> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    const dump: Dump = new Map();
    for (const { name } of tables) {
      const { rows } = await client.query<{ [column: string]: unknown }>(`select * from ${name}`);
      dump.set(`table ${name}`, rows.map(showRow).join('\n'));
    }
    return dump;
  } finally {
    await client.end();
  }
}

/** The history of every workflow, and what lists show of it. */
export async function dumpTemporal(address: string, namespace: string): Promise<Dump> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const dump: Dump = new Map();
    for await (const execution of client.workflow.list()) {
      const { workflowId, runId, raw } = execution;
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      dump.set(`workflow ${workflowId}`, `${showValue(raw)}\n${showValue(history)}`);
    }
    return dump;
  } finally {
    await connection.close();
  }
}

/** Text of every file below a folder; what is removed meanwhile is left out. */
export function dumpFiles(folder: string): Dump {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const dump: Dump = new Map();
  for (const file of files) {
    const path = join(file.parentPath, file.name);
    if (existsSync(path)) dump.set(`file ${path}`, readFileSync(path, 'latin1'));
  }
  return dump;
}

const showRow = (row: { readonly [column: string]: unknown }): string =>
  Object.values(row).map(showValue).join(' | ');

/** Texts as they are, bytes as text, all else by its parts. */
function showValue(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Date) return value.toISOString();
  return Object.values(value).map(showValue).join(' ');
}
