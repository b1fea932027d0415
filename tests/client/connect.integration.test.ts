import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { connectAssay } from '../../src/client/connect.ts';
import { createTestDatabase, type TestDatabase } from '../support/stack.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

test('connecting brings the tables up to date and reaches Temporal when it is asked for', async () => {
  const temporal = { address: inject('temporalAddress'), namespace: 'default' };
  const assay = await connectAssay({ databaseUrl: database.databaseUrl, temporal });
  try {
    const { rows } = await assay.db.query<{ found: string }>("select to_regclass('runs')::text as found");
    expect(rows).toEqual([{ found: 'runs' }]);
    const client = await assay.temporal();
    expect(client.options.namespace).toBe('default');
    expect(await assay.temporal()).toBe(client);
  } finally {
    await assay.close();
  }
});

test('an unreachable Temporal server is one clear message, and looking at runs does not need it', async () => {
  const temporal = { address: '127.0.0.1:9', namespace: 'default' };
  const assay = await connectAssay({ databaseUrl: database.databaseUrl, temporal });
  try {
    await assay.db.query('select 1');
    await expect(assay.temporal()).rejects.toThrow(/^Temporal at 127\.0\.0\.1:9 does not answer: [^\n]*$/);
  } finally {
    await assay.close();
  }
});

test('an unreachable Postgres is one clear message without the password', async () => {
  const databaseUrl = 'postgres://assay:secret-word@127.0.0.1:9/assay';
  const error = await connectAssay({ databaseUrl, temporal: null }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ClientError', message: expect.stringContaining('127.0.0.1:9') });
  expect(String(error)).not.toContain('secret-word');
});
